// Runs steps of verbs, HTTP and lists on large inputs in the worker threads.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { ItemEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import type { EncodeListText } from '@cluster-apiserver/api/codec/pretty-yaml-stream.js'
import type { Decision } from '@cluster-apiserver/api/resources/admissionregistration/policy/evaluate-policy.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import type { EvaluateInWorker } from '../admission/validating-admission-policy/validating-admission-policy.js'
import type { ObjectFormat, Represented } from '../http/responses/representation.js'
import type { SentBody } from '../http/rest/read-body.js'
import type { RequestSteps } from '../http/rest/worker-steps.js'
import { convertAhead } from '../objects/entry/convert-ahead.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import type { ItemEncoder } from '../objects/list/large-items.js'
import { conversionsOf, runWithConversions, UnconvertedError } from '../verbs/version-conversion.js'
import type { EncodedPatch, LiveObject, WorkerSteps } from '../verbs/worker-steps.js'
import type { WorkerPool } from './worker-pool.js'
import { type LiveInput, type Packed, pack, type RequestContext, type Step, type TaskResult, unpack } from './worker-tasks.js'

/** Items of lists and watches are encoded once for all users who may read them. */
const sharedWork = { user: 'system:shared-encoding', onAbort: undefined }

type Output = NonNullable<TaskResult['output']>

export class OffloadedSteps implements WorkerSteps, RequestSteps, ItemEncoder {
  readonly #pool: WorkerPool

  constructor(pool: WorkerPool) {
    this.#pool = pool
  }

  async decode(call: Call, body: SentBody): Promise<ApiObject> {
    return this.#object(call, { step: 'decode', call: contextOf(call), body })
  }

  async create(call: Call, sent: ApiObject): Promise<ApiObject> {
    const object = await packed(sent, call.resource.storedSchema)
    return this.#converted(call, (context) => ({ step: 'create', call: context, object }))
  }

  async update(call: Call, sent: ApiObject, live: LiveObject): Promise<ApiObject> {
    const object = await packed(sent, call.resource.storedSchema)
    const input = await inputOf(call.resource, live)
    return this.#converted(call, (context) => ({ step: 'update', call: context, object, live: input }))
  }

  async patch(call: Call, patch: EncodedPatch, live: LiveObject | undefined): Promise<ApiObject> {
    const input = live && (await inputOf(call.resource, live))
    return this.#converted(call, (context) => ({ step: 'patch', call: context, patch, live: input }))
  }

  async check(call: Call, next: ApiObject, live: LiveObject | undefined): Promise<Buffer> {
    const object = await packed(next, call.resource.storedSchema)
    const input = live && (await inputOf(call.resource, live))
    return this.#withConversions(call, async (context) =>
      bytesIn(await this.#run(call, { step: 'check', call: context, object, live: input })),
    )
  }

  async encode(call: Call, object: ApiObject): Promise<Buffer> {
    return bytesIn(await this.#run(call, { step: 'encode', call: contextOf(call), object: await packed(object) }))
  }

  async represent(call: Call, { representation, query }: ObjectFormat, object: ApiObject): Promise<Represented> {
    const includeObject = query.first('includeObject')
    const step = { step: 'represent', call: contextOf(call), representation, includeObject, object: await packed(object) } as const
    const output = await this.#run(call, step)
    return { contentType: output.contentType ?? '', body: bytesIn(output), isObject: true }
  }

  readonly evaluatePolicy: EvaluateInWorker = async (call, policy, variables) => {
    const step = { step: 'policy', policy: policyText(policy), variables: await packed(variables) } as const
    return unpack<readonly Decision[]>((await this.#run(call, step)).object ?? '[]')
  }

  writeTextFor(call: Call): EncodeListText {
    return async (text) => bytesIn(await this.#run(call, { step: 'text', text }, text.json.length))
  }

  /** False for a view such as Scale, whose kind is not that of the object. */
  canEncodeItem({ choice, resource }: ItemEncoding): boolean {
    return choice !== undefined && resource.kind === resource.definition.kind
  }

  async encodeItem({ choice, resource }: ItemEncoding, stored: StoredObject): Promise<Uint8Array> {
    if (choice === undefined) throw new Error('this representation cannot be described to a worker thread')
    await convertAhead([stored], resource)
    const live = resource.conversion === undefined ? { entry: entryOf(stored) } : { object: await packed(stored.shown(resource)) }
    const call = { ...noRequest, ...kindOf(resource) }
    return bytesIn(outputOf(await this.#pool.run({ step: 'item', call, choice, live }, { ...sharedWork, bytes: stored.size })))
  }

  /** A webhook converts between two runs of a step that lacks a conversion. */
  async #withConversions<T>(call: Call, act: (context: RequestContext) => Promise<T>): Promise<T> {
    return runWithConversions(call, async () => {
      const conversions: (readonly [key: string, object: Packed])[] = []
      for (const [key, object] of conversionsOf(call)) conversions.push([key, await packed(object)])
      return act({ ...contextOf(call), conversions })
    })
  }

  #converted(call: Call, stepWith: (context: RequestContext) => Step): Promise<ApiObject> {
    return this.#withConversions(call, (context) => this.#object(call, stepWith(context)))
  }

  async #object(call: Call, step: Step): Promise<ApiObject> {
    const { object = '{}' } = await this.#run(call, step)
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

/** A copy, because a view would be sent with its whole buffer. */
const entryOf = ({ entry: { key, revision, value } }: StoredObject) => ({ key, revision, value: Buffer.from(new Uint8Array(value).buffer) })

const inputOf = async ({ conversion }: Resource, { stored, object }: LiveObject): Promise<LiveInput> =>
  conversion === undefined ? { entry: entryOf(stored) } : { object: await packed(object) }

/** Packing blocks the event loop for some milliseconds: each gets a turn of its own. */
async function inNextTurn<T>(work: () => T): Promise<T> {
  await turnBudget.nextTurn()
  return work()
}

const packed = (object: object, schema?: StructNode): Promise<Packed> => inNextTurn(() => pack(object, schema))
const unpacked = (object: Packed): Promise<ApiObject> => inNextTurn(() => unpack(object))

const noRequest = { subresource: undefined, namespace: '', name: '', options: {}, now: 0, userAgent: '', conversions: [] }

function contextOf({ resource, subresource, namespace, name, options, now, caller: { userAgent } }: Call): RequestContext {
  return { ...kindOf(resource), subresource: subresource?.name, namespace, name, options, now, userAgent, conversions: [] }
}

function kindOf({ group, version, name, definition }: Resource): Pick<RequestContext, 'group' | 'version' | 'resource' | 'custom'> {
  const source = definition.custom?.source
  return { group, version, resource: name, custom: source && customSource(source) }
}

let sourceIds = 0
/** Packed once per version of a CustomResourceDefinition. */
const customSource = weakMemoize((source: object) => ({ id: ++sourceIds, source: pack(source) }))
const policyText = weakMemoize((policy: object) => JSON.stringify(policy))
