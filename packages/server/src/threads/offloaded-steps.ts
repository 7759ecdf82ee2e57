// The steps of verbs, HTTP and lists on large inputs, as tasks for the worker threads.

import type { Decision, EvaluateInWorker } from '../../admission/policy/evaluate-policy.js'
import { ApiError } from '../../api/api-error.js'
import type { Call } from '../../api/call.js'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { onceFor } from '../../base/once-for.js'
import type { ItemForm } from '../../codec/item-form.js'
import type { WriteText } from '../../codec/list-text.js'
import type { SentBody } from '../../http/decode-sent.js'
import type { ObjectForm, Represented } from '../../http/represent.js'
import type { RequestSteps } from '../../http/request-steps.js'
import { convertAhead } from '../../objects/convert-ahead.js'
import type { ItemMaker } from '../../objects/large-items.js'
import type { StoredObject } from '../../objects/stored-object.js'
import { type EncodedPatch, type LiveObject, nextTurn, type Steps } from '../../verbs/steps.js'
import { conversionsOf, converting, UnconvertedError } from '../../verbs/versions.js'
import { type LiveInput, type Packed, pack, type RequestContext, type Step, type TaskResult, unpack } from './tasks.js'
import type { WorkerPool } from './worker-pool.js'

/** Items of lists and watches are encoded once for all users who may read them. */
const sharedWork = { user: 'system:shared-encoding', onAbort: undefined }

type Output = NonNullable<TaskResult['output']>

export class OffloadedSteps implements Steps, RequestSteps, ItemMaker {
  readonly #pool: WorkerPool

  constructor(pool: WorkerPool) {
    this.#pool = pool
  }

  async decode(call: Call, body: SentBody): Promise<ApiObject> {
    return this.#object(call, { step: 'decode', call: contextOf(call), body })
  }

  async create(call: Call, sent: ApiObject): Promise<ApiObject> {
    const object = await packed(sent)
    return this.#converted(call, (context) => ({ step: 'create', call: context, object }))
  }

  async update(call: Call, sent: ApiObject, live: LiveObject): Promise<ApiObject> {
    const object = await packed(sent)
    const input = await inputOf(call.resource, live)
    return this.#converted(call, (context) => ({ step: 'update', call: context, object, live: input }))
  }

  async patch(call: Call, patch: EncodedPatch, live: LiveObject | undefined): Promise<ApiObject> {
    const input = live && (await inputOf(call.resource, live))
    return this.#converted(call, (context) => ({ step: 'patch', call: context, patch, live: input }))
  }

  async check(call: Call, next: ApiObject, live: LiveObject | undefined): Promise<Buffer> {
    const input = live && (await inputOf(call.resource, live))
    return bytesIn(await this.#run(call, { step: 'check', call: contextOf(call), object: await packed(next), live: input }))
  }

  async encode(call: Call, object: ApiObject): Promise<Buffer> {
    return bytesIn(await this.#run(call, { step: 'encode', call: contextOf(call), object: await packed(object) }))
  }

  async represent(call: Call, { representation, query }: ObjectForm, object: ApiObject): Promise<Represented> {
    const includeObject = query.first('includeObject')
    const step = { step: 'represent', call: contextOf(call), representation, includeObject, object: await packed(object) } as const
    const output = await this.#run(call, step)
    return { contentType: output.contentType ?? '', body: bytesIn(output), isObject: true }
  }

  readonly evaluatePolicy: EvaluateInWorker = async (call, policy, variables) => {
    const step = { step: 'policy', policy: policyText(policy), variables: await packed(variables) } as const
    return unpack<readonly Decision[]>((await this.#run(call, step)).object ?? [])
  }

  writeTextFor(call: Call): WriteText {
    return async (text) => bytesIn(await this.#run(call, { step: 'text', text }, text.json.length))
  }

  /** False for a view of an object, such as its scale, which is small and is not described by the kind of the object. */
  knows({ wish, resource }: ItemForm): boolean {
    return wish !== undefined && resource.kind === resource.definition.kind
  }

  async make({ wish, resource }: ItemForm, stored: StoredObject): Promise<Uint8Array> {
    if (wish === undefined) throw new Error('this representation cannot be described to a worker thread')
    await convertAhead([stored], resource)
    const live = resource.conversion === undefined ? { entry: entryOf(stored) } : { object: await packed(stored.shown(resource)) }
    const call = { ...noRequest, ...kindOf(resource) }
    return bytesIn(outputOf(await this.#pool.run({ step: 'item', call, wish, live }, { ...sharedWork, bytes: stored.size })))
  }

  /** A webhook converts between two runs of a step that lacks a conversion. */
  async #converted(call: Call, makeStep: (context: RequestContext) => Step): Promise<ApiObject> {
    return converting(call, async () => {
      const conversions: (readonly [key: string, object: Packed])[] = []
      for (const [key, object] of conversionsOf(call)) conversions.push([key, await packed(object)])
      return this.#object(call, makeStep({ ...contextOf(call), conversions }))
    })
  }

  async #object(call: Call, step: Step): Promise<ApiObject> {
    const { object = {} } = await this.#run(call, step)
    return unpacked(object)
  }

  async #run(call: Call, step: Step, bytes = call.bytes): Promise<Output> {
    const result = await this.#pool.run(step, { user: call.user.name, bytes, onAbort: call.onAbort })
    for (const text of result.warnings) call.warn(text)
    const { unconverted } = result.failure ?? {}
    if (unconverted !== undefined) throw new UnconvertedError(await unpacked(unconverted.object), unconverted.versions, unconverted.key)
    return outputOf(result)
  }
}

function outputOf({ output = {}, failure }: TaskResult): Output {
  if (failure === undefined) return output
  if (failure.status !== undefined) throw new ApiError(failure.status)
  throw Object.assign(new Error(failure.message), { stack: failure.stack })
}

const bytesIn = ({ bytes = new Uint8Array() }: Output): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** With bytes of its own: a view would be sent with all the memory that it is a part of. */
const entryOf = ({ entry: { key, revision, value } }: StoredObject) => ({ key, revision, value: Buffer.from(new Uint8Array(value).buffer) })

const inputOf = async ({ conversion }: Resource, { stored, object }: LiveObject): Promise<LiveInput> =>
  conversion === undefined ? { entry: entryOf(stored) } : { object: await packed(object) }

async function inOwnTurn<T>(work: () => T): Promise<T> {
  await nextTurn()
  return work()
}

const packed = (object: object): Promise<Packed> => inOwnTurn(() => pack(object))
const unpacked = (object: Packed): Promise<ApiObject> => inOwnTurn(() => unpack(object))

const noRequest = { subresource: undefined, namespace: '', name: '', options: {}, now: 0, userAgent: '', conversions: [] }

function contextOf({ resource, subresource, namespace, name, options, now, caller: { userAgent } }: Call): RequestContext {
  return { ...kindOf(resource), subresource: subresource?.name, namespace, name, options, now, userAgent, conversions: [] }
}

function kindOf({ group, version, name, definition }: Resource): Pick<RequestContext, 'group' | 'version' | 'resource' | 'custom'> {
  const source = definition.custom?.source
  return { group, version, resource: name, custom: source && customSource(source) }
}

let sourceIds = 0
/** The same for all requests on one version of a CustomResourceDefinition. */
const customSource = onceFor((source: object) => ({ id: ++sourceIds, source: pack(source) }))
const policyText = onceFor((policy: object) => JSON.stringify(policy))
