// Whom admission asks outside of the server: webhooks, and who judges images. Connections and answers outlive an engine where there is one
// for each request.

import type { Plugin } from '../admission/admission.js'
import { imagePolicyWebhook } from '../admission/plugins/image-policy-webhook.js'
import { HookClients } from '../admission/webhooks/hook-clients.js'
import { HookTallies } from '../admission/webhooks/hook-tallies.js'
import { type RecordReview, ReviewRecorder } from '../admission/webhooks/review-recorder.js'
import { JsonEndpoint } from '../net/json-endpoint.js'
import type { Settings } from './options/settings.js'
import { hookWays, type Outbound } from './outbound.js'

export interface HookParts {
  readonly clients: HookClients
  readonly tallies: HookTallies
  /** Undefined where no review is recorded. */
  readonly recorder: ReviewRecorder | undefined
  readonly record: RecordReview | undefined
  /** Undefined where nobody is asked about images. */
  readonly imagePolicy: Plugin | undefined
  /** False as long as the server only writes what it needs itself. */
  readonly isServing: () => boolean
  close(): void
}

/** How long it is waited for who judges images. */
const imagesMs = 30_000
/** Of its response, which names no images: longer ones would block the event loop. */
const imagesMaxBytes = 512 << 10

export function openHooks({ identity, admission }: Settings, outbound: Outbound, isServing: () => boolean): HookParts {
  const clients = new HookClients({
    userAgent: identity.prefixed('apiserver-admission'),
    allowsPlain: admission.allowsPlainHooks,
    ways: hookWays(outbound),
  })
  const recorder = admission.recordedReviews === 0 ? undefined : new ReviewRecorder(admission.recordedReviews)
  const images =
    admission.imagePolicy === undefined
      ? undefined
      : new JsonEndpoint({ ...admission.imagePolicy, tally: outbound.webhooks }, { timeoutMs: imagesMs, maxBytes: imagesMaxBytes })
  return {
    clients,
    tallies: new HookTallies(),
    recorder,
    record: recorder?.record,
    imagePolicy: images === undefined ? undefined : imagePolicyOf(admission, images),
    isServing,
    close: () => {
      clients.close()
      images?.close()
    },
  }
}

function imagePolicyOf({ config }: Settings['admission'], endpoint: JsonEndpoint): Plugin | undefined {
  const { imagePolicy: settings } = config
  if (settings === undefined) return undefined
  return imagePolicyWebhook({ settings, post: (text, onAbort) => endpoint.post(text, { onAbort }), now: () => performance.now() })
}
