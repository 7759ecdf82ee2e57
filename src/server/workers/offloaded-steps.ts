// The steps of verbs, HTTP and lists on large inputs, as tasks for the worker threads.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Decision, EvaluateInWorker } from '../../admission/policy/evaluate-policy.js'
import { ApiError } from '../../api/api-error.js'
import type { Call, CallOptions, OnAbort } from '../../api/call.js'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import type { ItemForm } from '../../codec/item-form.js'
import { parseWrittenJson } from '../../codec/json.js'
import type { DocumentText, ItemsText } from '../../codec/list-text.js'
import type { SentBody } from '../../http/decode-sent.js'
import type { ObjectForm, Represented } from '../../http/represent.js'
import type { RequestSteps } from '../../http/request-steps.js'
import { convertAhead } from '../../objects/convert-ahead.js'
import type { ItemMaker } from '../../objects/large-items.js'
import type { StoredObject } from '../../objects/stored-object.js'
import { writeAny } from '../../schema/write.js'
import type { PatchType } from '../../verbs/patch.js'
import type { EncodedPatch, LiveObject, Steps } from '../../verbs/steps.js'
import { conversionsOf, converting, UnconvertedError } from '../../verbs/versions.js'
import type { CallFacts, CustomSource, Failure, SentLive, Step, StepOutput, TaskResult } from './tasks.js'
import type { WorkerPool } from './worker-pool.js'

/** Items of lists and watches are shared by all users who may read them. */
const sharedWork = { user: 'system:shared-encoding', onAbort: undefined }

export class OffloadedSteps implements Steps, RequestSteps, ItemMaker {
  readonly #pool: WorkerPool

  constructor(pool: WorkerPool) {
    this.#pool = pool
  }

  async decode(call: Call, { bytes, format }: SentBody): Promise<ApiObject> {
    return this.#object(call, { step: 'decode', call: factsOf(call), format, bytes })
  }

  async create(call: Call, sent: ApiObject): Promise<ApiObject> {
    const json = await jsonOf(sent)
    return this.#converted(call, (facts) => ({ step: 'create', call: facts, json }))
  }

  async update(call: Call, sent: ApiObject, live: LiveObject): Promise<ApiObject> {
    const json = await jsonOf(sent)
    const current = await sentLive(call.resource, live)
    return this.#converted(call, (facts) => ({ step: 'update', call: facts, json, live: current }))
  }

  async patch(call: Call, { type, bytes }: EncodedPatch, live: LiveObject | undefined): Promise<ApiObject> {
    const sent = live && (await sentLive(call.resource, live))
    return this.#converted(call, (facts) => ({ step: 'patch', call: facts, type: type as PatchType, bytes, live: sent }))
  }

  async check(call: Call, next: ApiObject, live: LiveObject | undefined): Promise<Buffer> {
    const sent = live && (await sentLive(call.resource, live))
    return bytesIn(await this.#run(call, { step: 'check', call: factsOf(call), json: await jsonOf(next), live: sent }))
  }

  async encode(call: Call, object: ApiObject): Promise<Buffer> {
    return bytesIn(await this.#run(call, { step: 'encode', call: factsOf(call), json: await jsonOf(object) }))
  }

  async represent(call: Call, { representation, query }: ObjectForm, object: ApiObject): Promise<Represented> {
    const includeObject = query.first('includeObject')
    const json = await jsonOf(object)
    const output = await this.#run(call, { step: 'represent', call: factsOf(call), representation, includeObject, json })
    return { contentType: output.contentType ?? '', body: bytesIn(output), isObject: true }
  }

  evaluatePolicy: EvaluateInWorker = async (call, policy, variables) => {
    const step = { step: 'policy', policy: JSON.stringify(policy), variables: await jsonOf(variables) } as const
    return JSON.parse((await this.#run(call, step)).json ?? '[]') as readonly Decision[]
  }

  async writeText(text: DocumentText): Promise<Uint8Array> {
    return bytesIn(outputOf(await this.#pool.run({ step: 'text', text }, { ...sharedWork, bytes: text.json.length })))
  }

  async writeItems(text: ItemsText): Promise<Uint8Array> {
    return bytesIn(outputOf(await this.#pool.run({ step: 'items', text }, { ...sharedWork, bytes: text.items.length })))
  }

  knows({ wish }: ItemForm): boolean {
    return wish !== undefined
  }

  async make({ wish, resource }: ItemForm, stored: StoredObject): Promise<Uint8Array> {
    if (wish === undefined) throw new Error('this representation cannot be described to a worker thread')
    await convertAhead([stored], resource)
    const live = resource.conversion === undefined ? { entry: entryOf(stored) } : { json: await jsonOf(stored.shown(resource)) }
    const call = { ...noCall, ...kindOf(resource) }
    return bytesIn(outputOf(await this.#pool.run({ step: 'item', call, wish, live }, { ...sharedWork, bytes: stored.size })))
  }

  /** A webhook converts between two runs of a step that lacks a conversion. */
  async #converted(call: Call, makeStep: (facts: CallFacts) => Step): Promise<ApiObject> {
    return converting(call, async () => this.#object(call, makeStep({ ...factsOf(call), conversions: await conversionsTo(call) })))
  }

  async #object(call: Call, step: Step): Promise<ApiObject> {
    const { json = '{}' } = await this.#run(call, step)
    const object = parseWrittenJson(json) as ApiObject
    await nextTurn()
    return object
  }

  async #run(call: Call, step: Step): Promise<StepOutput> {
    const { name: user } = call.user
    const onAbort: OnAbort | undefined = call.onAbort
    const result = await this.#pool.run(step, { user, bytes: call.bytes, onAbort })
    for (const text of ('output' in result ? result.output.warnings : result.warnings) ?? []) call.warn(text)
    if ('failure' in result && result.failure.unconverted !== undefined) throw await unconvertedOf(result.failure.unconverted)
    return outputOf(result)
  }
}

function outputOf(result: TaskResult): StepOutput {
  if ('output' in result) return result.output
  const { message, status } = result.failure
  throw status === undefined ? new Error(message) : new ApiError(status)
}

async function unconvertedOf({ json, versions, key }: NonNullable<Failure['unconverted']>): Promise<UnconvertedError> {
  const object = parseWrittenJson(json) as ApiObject
  await nextTurn()
  return new UnconvertedError(object, versions, key)
}

const bytesIn = ({ bytes = new Uint8Array() }: StepOutput): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** With bytes of its own: a view would be sent with all the memory that it is a part of. */
const entryOf = ({ entry: { key, revision, value } }: StoredObject) => ({ key, revision, value: Buffer.from(new Uint8Array(value).buffer) })

const sentLive = async ({ conversion }: Resource, { stored, object }: LiveObject): Promise<SentLive> =>
  conversion === undefined ? { entry: entryOf(stored) } : { json: await jsonOf(object) }

/** To write or parse the JSON of the largest object takes 50 ms: each in a turn of the event loop of its own. */
async function jsonOf(object: object): Promise<string> {
  await nextTurn()
  return writeAny(object)
}

const noOptions: CallOptions = {}
const noCall = { subresource: undefined, namespace: '', name: '', options: noOptions, now: 0, userAgent: '', conversions: [] }

function factsOf(call: Call): CallFacts {
  const { resource, subresource, namespace, name, options, now, caller } = call
  return {
    ...kindOf(resource),
    subresource: subresource?.name,
    namespace,
    name,
    options,
    now,
    userAgent: caller.userAgent,
    conversions: [],
  }
}

async function conversionsTo(call: Call): Promise<CallFacts['conversions']> {
  const sent: (readonly [key: string, json: string])[] = []
  for (const [key, object] of conversionsOf(call)) sent.push([key, await jsonOf(object)])
  return sent
}

function kindOf({ group, version, name, definition }: Resource): Pick<CallFacts, 'group' | 'version' | 'resource' | 'custom'> {
  const source = definition.custom?.source
  return { group, version, resource: name, custom: source && sourceOf(source) }
}

const sources = new WeakMap<object, CustomSource>()
let sourceIds = 0

/** The same for all requests on one version of a CustomResourceDefinition. */
function sourceOf(source: object): CustomSource {
  let known = sources.get(source)
  if (known === undefined) {
    known = { id: ++sourceIds, json: JSON.stringify(source) }
    sources.set(source, known)
  }
  return known
}
