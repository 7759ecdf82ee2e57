// Runs one step in a worker thread, with the same functions that the event loop calls for small inputs.

import { parentPort, workerData } from 'node:worker_threads'
import { ApiError, requestEntityTooLarge } from '@cluster-apiserver/api/api/api-error.js'
import { Call, type Caller, type RuleSettings } from '@cluster-apiserver/api/api/call.js'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { parseRuntimeConfig } from '@cluster-apiserver/api/api/catalog/runtime-config.js'
import { parseFeatureGates } from '@cluster-apiserver/api/api/feature-gates/feature-gates.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { emptyQuery } from '@cluster-apiserver/api/api/options/query.js'
import { anonymous } from '@cluster-apiserver/api/api/user.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { maxObjectBytes, objectHeadroomBytes } from '@cluster-apiserver/api/base/size-limits.js'
import { valueOfJson } from '@cluster-apiserver/api/cel/values/json-values.js'
import type { EncodingChoice } from '@cluster-apiserver/api/codec/item-encoding.js'
import { objectEncodingOf } from '@cluster-apiserver/api/codec/object-encoding.js'
import { encodeListText } from '@cluster-apiserver/api/codec/pretty-yaml-stream.js'
import { tableRowEncodingOf } from '@cluster-apiserver/api/codec/table/table-rows.js'
import { CompiledPolicy } from '@cluster-apiserver/api/resources/admissionregistration/policy/compiled-policy.js'
import {
  type Decision,
  evaluatePolicy,
  type Variables,
} from '@cluster-apiserver/api/resources/admissionregistration/policy/evaluate-policy.js'
import type { ValidatingAdmissionPolicy } from '@cluster-apiserver/api/resources/admissionregistration/v1alpha1.schema.js'
import { customKind } from '@cluster-apiserver/api/resources/apiextensions/custom-resource/custom-kind.js'
import type { CustomResourceDefinition } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import type { PlainVariables } from '../admission/validating-admission-policy/validating-admission-policy.js'
import { representUnstored } from '../http/responses/representation.js'
import { readPatch } from '../http/rest/patch-body.js'
import { decodeSent } from '../http/rest/read-body.js'
import { encodeStored, StoredObject } from '../objects/entry/stored-object.js'
import { servedCatalog } from '../options/served-catalog.js'
import type { Entry } from '../storage/storage.js'
import { createdObject } from '../verbs/create.js'
import { patchedObject } from '../verbs/patch.js'
import { readLive, updatedObject, withUnchangedTimes } from '../verbs/update.js'
import { asStored, asValidated, UnconvertedError, withConversions } from '../verbs/version-conversion.js'
import { validateWrite } from '../verbs/write-steps.js'
import {
  type Failure,
  type LiveInput,
  pack,
  type RequestContext,
  type Step,
  type Task,
  type TaskResult,
  unpack,
  type WorkerSettings,
} from './worker-tasks.js'

type Output = NonNullable<TaskResult['output']>

async function runTask(kinds: WorkerKinds, { id, step }: Task): Promise<TaskResult> {
  const warnings: string[] = []
  try {
    return { id, warnings, output: await runStep(kinds, step, (text) => warnings.push(text)) }
  } catch (thrown) {
    return { id, warnings, failure: failureOf(thrown) }
  }
}

function failureOf(thrown: unknown): Failure {
  const { message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown))
  if (thrown instanceof ApiError) return { message, stack, status: thrown.status }
  if (!(thrown instanceof UnconvertedError)) return { message, stack }
  const { object, versions, key } = thrown
  return { message, stack, unconverted: { object: pack(object), versions, key } }
}

async function runStep(kinds: WorkerKinds, step: Step, warn: (text: string) => void): Promise<Output> {
  if (step.step === 'text') return { bytes: Buffer.from(encodeListText(step.text)) }
  if (step.step === 'policy') return { object: pack(await decisionsOf(step.policy, unpack(step.variables))) }
  const call = callOf(kinds, step.call, warn)
  switch (step.step) {
    case 'decode':
      return packWithinLimit(call, decodeSent(call, step.body), step.body.maxBytes)
    case 'create':
      return packWithinLimit(call, createdObject(call, { object: unpack(step.object) }))
    case 'update':
      return packWithinLimit(call, updatedObject(call, unpack(step.object), liveOf(call, step.live)), sizeOf(step.live))
    case 'patch': {
      const { patch, live } = step
      const request = { type: patch.type, ...readPatch(patch.type, patch.bytes) }
      return packWithinLimit(call, patchedObject(call, live && liveOf(call, live), request), sizeOf(live))
    }
    case 'check': {
      const next = unpack<ApiObject>(step.object)
      const live = step.live && liveOf(call, step.live)
      await validateWrite(call, next, live && asValidated(call, live))
      const stored = asStored(call, next)
      return { bytes: encodeStored(call.resource, live === undefined ? stored : withUnchangedTimes(stored, live)) }
    }
    case 'encode':
      return { bytes: encodeStored(call.resource, unpack<ApiObject>(step.object)) }
    case 'item':
      return { bytes: itemOf(call, step.choice, step.live) }
    case 'represent': {
      const { representation, includeObject } = step
      const resource = call.subresource?.shown ?? call.resource
      const query = { ...emptyQuery, first: (name: string) => (name === 'includeObject' ? includeObject : undefined) }
      const format = { representation, identity: call.identity, resource, rules: call, query }
      const { body, contentType } = representUnstored(format, unpack(step.object))
      return { bytes: body, contentType }
    }
  }
}

/**
 * Rejects an object that is too large to be stored, so that the event loop need not parse it.
 * `formerBytes`: a higher limit, such as the size of a stored object that is already over the limit.
 */
function packWithinLimit({ resource }: Call, object: ApiObject, formerBytes = 0): Output {
  const packed = pack(object, resource.storedSchema)
  const data = typeof packed === 'string' ? packed : packed.data
  const limit = Math.max(maxObjectBytes + objectHeadroomBytes, formerBytes)
  if (typeof data === 'string' && data.length > limit)
    throw requestEntityTooLarge(`the object would have ${data.length} bytes; limit is ${maxObjectBytes}`)
  return { object: packed }
}

const sizeOf = (live: LiveInput | undefined): number | undefined =>
  live !== undefined && 'entry' in live ? live.entry.value.length : undefined

const compiledPolicies = new Map<string, CompiledPolicy>()
const maxPolicies = 50

function decisionsOf(json: string, variables: PlainVariables): Promise<readonly Decision[]> {
  if (compiledPolicies.size >= maxPolicies) compiledPolicies.clear()
  const policy = getOrInsert(compiledPolicies, json, () => new CompiledPolicy(JSON.parse(json) as ValidatingAdmissionPolicy))
  const values = Object.entries(variables).map(([name, data]) => [name, valueOfJson(data)])
  return evaluatePolicy(policy, Object.fromEntries(values) as Variables)
}

/** The user is anonymous: among the rules of a kind only prepareCreate reads it, which runs on the event loop. */
function callOf(kinds: WorkerKinds, context: RequestContext, warn: (text: string) => void): Call {
  const { namespace, name, options, now, userAgent, conversions } = context
  const resource = kinds.find(context)
  const subresource = context.subresource === undefined ? undefined : resource.subresources.get(context.subresource)
  const ignore = (): void => undefined
  const caller: Caller = {
    info: undefined,
    user: anonymous,
    userAgent,
    now,
    signal: undefined,
    throwIfAborted: ignore,
    warn,
    annotate: ignore,
  }
  const call = new Call(kinds.rules, caller, { resource, subresource, namespace, name, options })
  return withConversions(
    call,
    conversions.map(([key, object]) => [key, unpack<ApiObject>(object)]),
  )
}

const liveOf = (call: Call, live: LiveInput): ApiObject => ('object' in live ? unpack(live.object) : readLive(call, storedOf(live.entry)))

const storedOf = ({ key, revision, value }: Entry): StoredObject =>
  new StoredObject({ key, revision, value: Buffer.from(value.buffer, value.byteOffset, value.byteLength) })

/** Table rows are the same for every user, with placeholders for ages. */
function itemOf(call: Call, { format, as, includeObject = 'Metadata' }: EncodingChoice, live: LiveInput): Uint8Array {
  const { identity, resource } = call
  const encoding =
    as?.kind === 'Table'
      ? tableRowEncodingOf(resource, { identity, version: as.version, includeObject, rules: call })
      : objectEncodingOf(resource, { format, ...(as === undefined ? {} : { as }), pretty: false }, identity)
  return 'object' in live ? encoding.item(unpack(live.object)) : storedOf(live.entry).encodeItem(encoding)
}

export function serveTasks(): void {
  const kinds = new WorkerKinds(workerData as WorkerSettings)
  parentPort?.on('message', async (task: Task) => parentPort?.postMessage(await runTask(kinds, task)))
}

const maxCustomKinds = 50

class WorkerKinds {
  readonly rules: RuleSettings
  readonly #builtIn: Catalog
  /** Least recently used first. */
  readonly #custom = new Map<number, Catalog>()

  constructor({ identity: name, featureGates, runtimeConfig, forbidsPrivileged, allowsPlainWebhooks }: WorkerSettings) {
    const identity = identityOf(name)
    const gates = parseFeatureGates(featureGates)
    this.rules = { identity, gates, forbidsPrivileged, allowsPlainWebhooks }
    this.#builtIn = servedCatalog({ identity, gates, runtimeConfig: parseRuntimeConfig(runtimeConfig) }).current
  }

  find({ group, version, resource, custom }: RequestContext): Resource {
    const found = (custom === undefined ? this.#builtIn : this.#customCatalog(custom)).find(group, version, resource)
    if (found === undefined) throw new Error(`the worker thread does not know ${resource} of ${group}/${version}`)
    return found
  }

  #customCatalog({ id, source }: NonNullable<RequestContext['custom']>): Catalog {
    const catalog = this.#custom.get(id) ?? this.#createCatalog(unpack<CustomResourceDefinition>(source))
    this.#custom.delete(id)
    this.#custom.set(id, catalog)
    const [oldest] = this.#custom.keys()
    if (this.#custom.size > maxCustomKinds && oldest !== undefined) this.#custom.delete(oldest)
    return catalog
  }

  /** Webhooks are called on the event loop: a step that lacks a converted object fails with UnconvertedError and runs again with it. */
  #createCatalog(crd: CustomResourceDefinition): Catalog {
    const isConverted = crd.spec?.conversion?.strategy === 'Webhook'
    const convert = isConverted ? () => Promise.reject(new Error('a worker thread does not call webhooks')) : undefined
    return new Catalog({ identity: this.rules.identity, definitions: [customKind(crd, convert)], isServed: () => true })
  }
}
