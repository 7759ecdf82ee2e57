// Test webhooks of one server: opens them, answers and records their reviews, and closes them with the server.

import type { CleanupStack } from '@cluster-apiserver/api/base/async/cleanup-stack.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { RefuseWebhook } from '../../../net/outbound/webhook-dial.js'
import {
  type RegistrationParts,
  registerAdmissionWebhook,
  registerConversionWebhook,
  type Unregister,
  type WebhookClient,
} from './register-webhook.js'
import type { ReviewFunction } from './review-functions.js'
import { ReviewRecordings, replay, reviewOf, saveRecordings } from './review-recordings.js'
import { functionResponder, type Responder, reviewIn } from './review-responders.js'
import type { ReplayedReview, ReviewOutcome, TestWebhook } from './test-webhook.js'
import { type ReceivedReview, type SentResponse, WebhookListener } from './webhook-listener.js'
import { WebhookSlots } from './webhook-slots.js'
import { checkSpec, type WebhookKind, type WebhookSpec } from './webhook-spec.js'

/** A test webhook with what the control API needs. */
export interface OpenWebhook extends TestWebhook {
  readonly id: string
  readonly responder: Responder
  replayWith(responder: Responder): Promise<readonly ReplayedReview[]>
}

interface WebhooksParts extends RegistrationParts {
  readonly cleanup: CleanupStack
  readonly logger: Logger
}

const maxErrors = 1000
const suffixLength = 8
/** Maximum time that the removal of a registration may take; a shutdown waits for it. */
const closeTimeoutMs = 5000

export class TestWebhooks {
  readonly slots: WebhookSlots
  readonly #listener = new WebhookListener()
  readonly #open = new Map<string, OpenWebhook>()
  #parts: RegistrationParts | undefined

  constructor(refuse: RefuseWebhook) {
    this.slots = new WebhookSlots(refuse)
  }

  /** Call before the port opens: clean-up runs in reverse order, so that webhooks review the last requests too. */
  attach({ engine, catalogs, cleanup, logger }: WebhooksParts): void {
    this.#parts = { engine, catalogs }
    cleanup.add(() => this.#listener.close())
    cleanup.add(() => this.#closeAll(logger))
  }

  async open<Kind extends WebhookKind>(
    spec: { readonly kind: Kind } & WebhookSpec<Kind>,
    answer: ReviewFunction<Kind>,
  ): Promise<TestWebhook<Kind>> {
    const errors: unknown[] = []
    const onError = (thrown: unknown): void => {
      errors.push(thrown)
      if (errors.length > maxErrors) errors.shift()
    }
    checkSpec(spec)
    return (await this.openWith(spec, functionResponder(spec.kind, answer, onError), errors)) as OpenWebhook & TestWebhook<Kind>
  }

  get list(): readonly OpenWebhook[] {
    return [...this.#open.values()]
  }

  find(id: string): OpenWebhook | undefined {
    return this.#open.get(id)
  }

  async openWith(spec: WebhookSpec, responder: Responder, errors: readonly unknown[] = []): Promise<OpenWebhook> {
    const parts = this.#parts
    if (parts === undefined) throw new Error('webhook: the server has not started yet')
    const id = parts.engine.randomSuffix(suffixLength)
    const name = nameOf(spec, id)
    const path = `/${spec.kind}/${id}`
    const recordings = new ReviewRecordings()
    const address = await this.#listener.open()
    const url = `${address.origin}${path}`
    this.#listener.add(path, (received) => receive(received, recordings, responder))
    let unregister: Unregister
    try {
      const client: WebhookClient = { url, caBundle: Buffer.from(address.caPem).toString('base64') }
      unregister = await this.#register(parts, spec, { name, client, slot: () => this.slots.add(spec as never, address, path) })
    } catch (thrown) {
      this.#listener.remove(path)
      responder.close()
      throw thrown
    }
    let closing: Promise<void> | undefined
    const close = async (): Promise<void> => {
      await unregister(AbortSignal.timeout(closeTimeoutMs))
      this.#open.delete(id)
      this.#listener.remove(path)
      responder.close()
    }
    const { kind } = spec
    const webhook: OpenWebhook = {
      id,
      responder,
      kind,
      name,
      url,
      errors,
      get reviews() {
        return recordings.list.map((recording) => reviewOf(kind, recording))
      },
      replay: (answer) => replay(kind, recordings.list, functionResponder(kind, answer)),
      replayWith: (other) => replay(kind, recordings.list, other),
      save: (file) => saveRecordings(file, { kind, name }, recordings.list),
      close: () => {
        closing ??= close()
        return closing
      },
      [Symbol.asyncDispose]: () => webhook.close(),
    }
    this.#open.set(id, webhook)
    return webhook
  }

  async #register(parts: RegistrationParts, spec: WebhookSpec, { name, client, slot }: Registration): Promise<Unregister> {
    if (spec.kind === 'validating' || spec.kind === 'mutating') return await registerAdmissionWebhook(parts, spec, { name, client })
    if (spec.kind === 'conversion') return await registerConversionWebhook(parts, spec, client)
    const remove = slot()
    return async () => remove()
  }

  async #closeAll(logger: Logger): Promise<void> {
    for (const webhook of this.#open.values()) {
      await webhook.close().catch((thrown: unknown) => {
        logger.warn({ name: webhook.name, error: String(thrown) }, 'a test webhook stays registered')
      })
    }
  }
}

interface Registration {
  readonly name: string
  readonly client: WebhookClient
  readonly slot: () => () => void
}

const nameOf = (spec: WebhookSpec, id: string): string =>
  spec.kind === 'conversion'
    ? spec.crd
    : ((spec as Partial<WebhookSpec<'validating'>>).name ?? `${spec.kind.toLowerCase()}-${id}.webhooks.testkit`)

async function receive({ text, whenCut }: ReceivedReview, recordings: ReviewRecordings, responder: Responder): Promise<SentResponse> {
  const review = reviewIn(text)
  if (review === undefined) return { status: 400, text: 'the body is not a review' }
  const recording = recordings.add(review, text.length)
  const setOutcome = (outcome: ReviewOutcome): void => {
    recording.outcome = { ...outcome, ...recording.outcome }
  }
  whenCut(() => setOutcome({ error: 'the server closed the connection before the response' }))
  const { sent, outcome } = await responder.respond(review)
  setOutcome(outcome)
  recordings.grow(recording, sent.text.length)
  return sent
}
