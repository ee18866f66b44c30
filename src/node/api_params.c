/* api_params.c - see api_params.h. */
#include "node/api_params.h"

#include <string.h>

#include "universe/fabric.h"

static bool set_some_text(json_t *object, const char *name, const void *text, size_t len)
{
    return len == 0 ||
           json_object_set_new(object, name, json_stringn((const char *)text, len)) == 0;
}

static bool set_bytes_text(json_t *object, const char *name, const CodecBytes *text)
{
    return set_some_text(object, name, text->data, text->len);
}

static bool set_message(Call *call, json_t *object, const WitUniverseFabricSendParams *message)
{
    const CodecBytes *name = message->inbox.len > 0 ? &message->inbox : &message->schema;
    return set_bytes_text(object, "to", &message->dest_world) &&
           set_bytes_text(object, "name", name) &&
           set_bytes_text(object, "id", &message->message_id) &&
           set_bytes_text(object, "create", &message->create) &&
           call_set_payload(call, object, "body", (SapEncoding)message->encoding,
                            message->payload.data, message->payload.len);
}

bool call_set_params(Call *call, json_t *object, const char *kind, SapEncoding encoding,
                     const void *params, size_t len)
{
    WitUniverseFabricSendParams message;
    bool is_message = strcmp(kind, FABRIC_KIND) == 0 || strcmp(kind, FABRIC_ASK) == 0;
    if (is_message &&
        wit_universe_fabric_send_params_decode(params, len, &message, NULL) == SAP_OK) {
        bool done = set_message(call, object, &message);
        wit_universe_fabric_send_params_free(&message);
        return done;
    }
    if (strcmp(kind, "tag") == 0 || strcmp(kind, "untag") == 0) {
        return set_some_text(object, "value", params, len);
    }
    return call_set_payload(call, object, "params", encoding, params, len);
}
