// Clients of admission webhooks and of the image policy webhook.

import type { OnAbort } from '@cluster-apiserver/api/api/call.js'
import type { Plugin } from '../admission/admission-plugin.js'
import { imagePolicyWebhook } from '../admission/plugins/image-policy-webhook.js'
import { type RecordReview, ReviewRecorder } from '../admission/webhooks/admission-review-recorder.js'
import { WebhookClients } from '../admission/webhooks/webhook-clients.js'
import { WebhookCounters } from '../admission/webhooks/webhook-counters.js'
import { type EndpointResponse, JsonEndpoint } from '../net/outbound/json-endpoint.js'
import type { Settings } from '../options/settings.js'
import { type Outbound, webhookDials } from './outbound.js'
import type { StartContext } from './start-context.js'

export interface WebhookParts {
  readonly clients: WebhookClients
  readonly counters: WebhookCounters
  readonly recorder: ReviewRecorder | undefined
  readonly record: RecordReview | undefined
  readonly imagePolicy: Plugin | undefined
  /** False while the server writes only its own objects. */
  readonly isServing: () => boolean
  close(): void
}

const imagePolicyTimeoutMs = 30_000
/** Parsing a larger response would block the event loop for too long. */
const maxImagePolicyBytes = 512 << 10

export function createWebhooks({ settings, time }: StartContext, outbound: Outbound, isServing: () => boolean): WebhookParts {
  const { identity, admission } = settings
  const clients = new WebhookClients({
    userAgent: identity.prefixed('apiserver-admission'),
    allowsPlainHttp: admission.allowsPlainWebhooks,
    dials: webhookDials(outbound),
  })
  const recorder = admission.recordedReviews === 0 ? undefined : new ReviewRecorder(admission.recordedReviews)
  const imagePolicyEndpoint =
    admission.imagePolicy === undefined
      ? undefined
      : new JsonEndpoint(
          { ...admission.imagePolicy, counter: outbound.webhooks },
          { timeoutMs: imagePolicyTimeoutMs, maxBytes: maxImagePolicyBytes },
        )
  return {
    clients,
    counters: new WebhookCounters(),
    recorder,
    record: recorder?.record,
    imagePolicy:
      imagePolicyEndpoint === undefined ? undefined : imagePolicyOf(admission, imagePolicyEndpoint, { outbound, now: time.timers.now }),
    isServing,
    close: () => {
      clients.close()
      imagePolicyEndpoint?.close()
    },
  }
}

function imagePolicyOf(
  { config, imagePolicy }: Settings['admission'],
  endpoint: JsonEndpoint,
  { outbound, now }: { readonly outbound: Outbound; readonly now: () => number },
): Plugin | undefined {
  const { imagePolicy: settings } = config
  if (settings === undefined) return undefined
  const post = async (text: string, onAbort: OnAbort | undefined): Promise<EndpointResponse> => {
    outbound.refuse?.('imagePolicy', imagePolicy?.url ?? '')
    return endpoint.post(text, { onAbort })
  }
  return imagePolicyWebhook({ settings, post, now })
}
