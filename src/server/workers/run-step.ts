// One pure step, in a worker thread: the same functions that the event loop calls for small inputs.

import { CompiledPolicy } from '../../admission/policy/compiled-policy.js'
import { type Decision, evaluatePolicy, type PlainVariables, type Variables } from '../../admission/policy/evaluate-policy.js'
import { ApiError, requestEntityTooLarge } from '../../api/api-error.js'
import { Call, type Caller } from '../../api/call.js'
import type { ApiObject } from '../../api/object.js'
import { emptyQuery } from '../../api/options/query.js'
import { anonymous } from '../../api/user.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { maxObjectBytes, objectHeadroomBytes } from '../../base/most-body-bytes.js'
import { valueOfJson } from '../../cel/data.js'
import type { FormWish } from '../../codec/item-form.js'
import { writeLongText } from '../../codec/list-text.js'
import { rowFormOf } from '../../codec/table-rows.js'
import { wireFormOf } from '../../codec/wire-form.js'
import { decodeSent } from '../../http/decode-sent.js'
import { readPatch } from '../../http/patch-body.js'
import { representUnstored } from '../../http/represent.js'
import { encodeStored, StoredObject } from '../../objects/stored-object.js'
import type { ValidatingAdmissionPolicy } from '../../resources/admissionregistration/v1alpha1.schema.js'
import type { Entry } from '../../storage/storage.js'
import { checkWrite } from '../../verbs/check-write.js'
import { createdObject } from '../../verbs/create.js'
import { patchedObject } from '../../verbs/patch.js'
import { keepingTimes, readLive, updatedObject } from '../../verbs/update.js'
import { UnconvertedError, withConversions } from '../../verbs/versions.js'
import { type Failure, type LiveInput, pack, type RequestContext, type Step, type Task, type TaskResult, unpack } from './tasks.js'
import type { WorkerKinds } from './worker-kinds.js'

type Output = NonNullable<TaskResult['output']>

export function runTask(kinds: WorkerKinds, { id, step }: Task): TaskResult {
  const warnings: string[] = []
  try {
    return { id, warnings, output: runStep(kinds, step, (text) => warnings.push(text)) }
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

function runStep(kinds: WorkerKinds, step: Step, warn: (text: string) => void): Output {
  if (step.step === 'text') return { bytes: Buffer.from(writeLongText(step.text)) }
  if (step.step === 'policy') return { object: pack(decisionsOf(step.policy, unpack(step.variables))) }
  const call = callOf(kinds, step.call, warn)
  switch (step.step) {
    case 'decode':
      return withinLimit(decodeSent(call, step.body), step.body.maxBytes)
    case 'create':
      return withinLimit(createdObject(call, { object: unpack(step.object) }))
    case 'update':
      return withinLimit(updatedObject(call, unpack(step.object), liveOf(call, step.live)), sizeOf(step.live))
    case 'patch': {
      const { patch, live } = step
      const request = { type: patch.type, ...readPatch(patch.type, patch.bytes) }
      return withinLimit(patchedObject(call, live && liveOf(call, live), request), sizeOf(live))
    }
    case 'check': {
      const next = unpack<ApiObject>(step.object)
      const live = step.live && liveOf(call, step.live)
      runToEnd(checkWrite(call, next, live))
      return { bytes: encodeStored(call.resource, live === undefined ? next : keepingTimes(next, live)) }
    }
    case 'encode':
      return { bytes: encodeStored(call.resource, unpack<ApiObject>(step.object)) }
    case 'item':
      return { bytes: itemOf(call, step.wish, step.live) }
    case 'represent': {
      const { representation, includeObject } = step
      const resource = call.subresource?.shown ?? call.resource
      const query = { ...emptyQuery, first: (name: string) => (name === 'includeObject' ? includeObject : undefined) }
      const form = { representation, identity: call.identity, resource, rules: call, query }
      const { body, contentType } = representUnstored(form, unpack(step.object))
      return { bytes: body, contentType }
    }
  }
}

/** An object that no engine would store is not sent back: the event loop would have to parse it. `mostBytes`: of one that is larger from before. */
function withinLimit(object: ApiObject, mostBytes = 0): Output {
  const packed = pack(object)
  const limit = Math.max(maxObjectBytes + objectHeadroomBytes, mostBytes)
  if (typeof packed === 'string' && packed.length > limit)
    throw requestEntityTooLarge(`the object would have ${packed.length} bytes; limit is ${maxObjectBytes}`)
  return { object: packed }
}

const sizeOf = (live: LiveInput | undefined): number | undefined =>
  live !== undefined && 'entry' in live ? live.entry.value.length : undefined

const policies = new Map<string, CompiledPolicy>()
const maxPolicies = 50

function decisionsOf(json: string, variables: PlainVariables): readonly Decision[] {
  if (policies.size >= maxPolicies) policies.clear()
  const policy = getOrInsert(policies, json, () => new CompiledPolicy(JSON.parse(json) as ValidatingAdmissionPolicy))
  const values = Object.entries(variables).map(([name, data]) => [name, valueOfJson(data)])
  return runToEnd(evaluatePolicy(policy, Object.fromEntries(values) as Variables))
}

/** Runs a generator that yields to the event loop, which nobody else uses in this thread. */
function runToEnd<T>(work: Generator<unknown, T, void>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value
}

/** A step has no user: no rule of a kind reads one. */
function callOf(kinds: WorkerKinds, context: RequestContext, warn: (text: string) => void): Call {
  const { namespace, name, options, now, userAgent, conversions } = context
  const resource = kinds.find(context)
  const subresource = context.subresource === undefined ? undefined : resource.subresources.get(context.subresource)
  const nothing = (): void => undefined
  const caller: Caller = {
    info: undefined,
    user: anonymous,
    userAgent,
    now,
    signal: undefined,
    throwIfAborted: nothing,
    warn,
    annotate: nothing,
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

/** Rows of tables are the same for every user, and have room for ages. */
function itemOf(call: Call, { format, as, includeObject = 'Metadata' }: FormWish, live: LiveInput): Uint8Array {
  const { identity, resource } = call
  const form =
    as?.kind === 'Table'
      ? rowFormOf(resource, { identity, version: as.version, includeObject, rules: call })
      : wireFormOf(resource, { format, ...(as === undefined ? {} : { as }), pretty: false }, identity)
  return 'object' in live ? form.item(unpack(live.object)) : storedOf(live.entry).makeItem(form)
}
