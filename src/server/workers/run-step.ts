// One pure step, in a worker thread: the same functions that the event loop calls for small inputs.

import { CompiledPolicy } from '../../admission/policy/compiled-policy.js'
import { type Decision, evaluatePolicy, type PlainVariables, type Variables } from '../../admission/policy/evaluate-policy.js'
import { ApiError, requestEntityTooLarge } from '../../api/api-error.js'
import { Call, type Caller, type RuleSettings } from '../../api/call.js'
import type { Resource } from '../../api/catalog.js'
import type { RuleContext } from '../../api/definition.js'
import type { ApiObject } from '../../api/object.js'
import { emptyQuery } from '../../api/options/query.js'
import { anonymous } from '../../api/user.js'
import { maxObjectBytes } from '../../base/most-body-bytes.js'
import { valueOfJson } from '../../cel/data.js'
import type { FormWish, ItemForm } from '../../codec/item-form.js'
import { parseWrittenJson } from '../../codec/json.js'
import { writeDocument, writeItems } from '../../codec/list-text.js'
import { rowFormOf } from '../../codec/table-rows.js'
import { wireFormOf } from '../../codec/wire-form.js'
import { decodeSent } from '../../http/decode-sent.js'
import { readPatch } from '../../http/patch-body.js'
import { representUnstored } from '../../http/represent.js'
import { encodeStored, StoredObject } from '../../objects/stored-object.js'
import type { ValidatingAdmissionPolicy } from '../../resources/admissionregistration/v1alpha1.schema.js'
import { writeAny } from '../../schema/write.js'
import { checkWrite } from '../../verbs/check-write.js'
import { createdObject } from '../../verbs/create.js'
import { patchedObject } from '../../verbs/patch.js'
import { keepingTimes, readLive, updatedObject } from '../../verbs/update.js'
import { UnconvertedError, withConversions } from '../../verbs/versions.js'
import type { CallFacts, Failure, SentLive, Step, StepOutput, Task, TaskResult } from './tasks.js'
import type { WorkerKinds } from './worker-kinds.js'

export function runTask(kinds: WorkerKinds, { id, step }: Task): TaskResult {
  const warnings: string[] = []
  try {
    return { id, output: { ...runStep(kinds, step, (text) => warnings.push(text)), warnings } }
  } catch (thrown) {
    return { id, warnings, failure: failureOf(thrown) }
  }
}

function failureOf(thrown: unknown): Failure {
  if (thrown instanceof ApiError) return { message: thrown.message, status: thrown.status }
  if (thrown instanceof UnconvertedError) {
    const { message, object, versions, key } = thrown
    return { message, unconverted: { json: writeAny(object), versions, key } }
  }
  return { message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) }
}

function runStep(kinds: WorkerKinds, step: Step, warn: (text: string) => void): StepOutput {
  if (step.step === 'text') return { bytes: Buffer.from(writeDocument(step.text)) }
  if (step.step === 'items') return { bytes: Buffer.from(writeItems(step.text)) }
  if (step.step === 'policy') return { json: JSON.stringify(decisionsOf(step.policy, step.variables)) }
  const call = callOf(kinds, step.call, warn)
  switch (step.step) {
    case 'decode':
      return bounded(decodeSent(call, step))
    case 'create':
      return bounded(createdObject(call, { object: parse(step.json) }))
    case 'update': {
      const live = liveOf(call, step.live)
      return bounded(updatedObject(call, parse(step.json), live), live)
    }
    case 'patch': {
      const live = step.live && liveOf(call, step.live)
      return bounded(patchedObject(call, live, { type: step.type, ...readPatch(step.type, step.bytes) }), live)
    }
    case 'check': {
      const next = parse(step.json)
      const live = step.live && liveOf(call, step.live)
      finished(checkWrite(call, next, live))
      return { bytes: encodeStored(call.resource, live === undefined ? next : keepingTimes(next, live)) }
    }
    case 'encode':
      return { bytes: encodeStored(call.resource, parse(step.json)) }
    case 'item':
      return { bytes: itemOf(call, step.wish, step.live) }
    case 'represent': {
      const { representation, includeObject, json } = step
      const resource = call.subresource?.shown ?? call.resource
      const query = { ...emptyQuery, first: (name: string) => (name === 'includeObject' ? includeObject : undefined) }
      const { body, contentType } = representUnstored(
        { representation, identity: call.identity, resource, rules: call, query },
        parse(json),
      )
      return { bytes: body, contentType }
    }
  }
}

const parse = (json: string): ApiObject => parseWrittenJson(json) as ApiObject

/** No object is sent back that could not be stored, so that the event loop parses no more than that; one that was too large may stay as it is. */
function bounded(object: ApiObject, live?: ApiObject): StepOutput {
  const json = writeAny(object)
  if (
    json.length > maxObjectBytes &&
    Buffer.byteLength(json) > maxObjectBytes &&
    json.length > (live === undefined ? 0 : writeAny(live).length)
  )
    throw requestEntityTooLarge(`the object would have ${Buffer.byteLength(json)} bytes; limit is ${maxObjectBytes}`)
  return { json }
}

function decisionsOf(policyJson: string, variablesJson: string): readonly Decision[] {
  const policy = new CompiledPolicy(JSON.parse(policyJson) as ValidatingAdmissionPolicy)
  const variables = Object.entries(parseWrittenJson(variablesJson) as PlainVariables).map(([name, data]) => [name, valueOfJson(data)])
  return finished(evaluatePolicy(policy, Object.fromEntries(variables) as Variables))
}

/** Runs a generator that yields to the event loop, which nobody else uses in this thread. */
function finished<T>(work: Generator<unknown, T, void>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value
}

/** A step has no user: rules that would read one get nobody. */
function callOf(kinds: WorkerKinds, facts: CallFacts, warn: (text: string) => void): Call {
  const { namespace, name, options, now, userAgent, conversions } = facts
  const resource = kinds.find(facts)
  const subresource = facts.subresource === undefined ? undefined : resource.subresources.get(facts.subresource)
  const caller: Caller = {
    info: undefined,
    user: anonymous,
    userAgent,
    now,
    signal: undefined,
    throwIfAborted: () => undefined,
    warn,
    annotate: () => undefined,
  }
  const call = new Call(kinds.rules, caller, { resource, subresource, namespace, name, options })
  return withConversions(
    call,
    conversions.map(([key, json]) => [key, parse(json)]),
  )
}

const liveOf = (call: Call, live: SentLive): ApiObject => ('json' in live ? parse(live.json) : readLive(call, storedOf(live.entry)))

const storedOf = ({
  key,
  revision,
  value,
}: {
  readonly key: string
  readonly revision: number
  readonly value: Uint8Array
}): StoredObject => new StoredObject({ key, revision, value: Buffer.from(value.buffer, value.byteOffset, value.byteLength) })

function itemOf(call: Call, wish: FormWish, live: SentLive): Uint8Array {
  const form = formOf(call, call.resource, wish)
  return 'json' in live ? form.item(parse(live.json)) : storedOf(live.entry).makeItem(form)
}

/** Rows of tables are the same for every user and have room for ages, so their time is zero. */
function formOf(
  { identity, gates, forbidsPrivileged }: RuleSettings,
  resource: Resource,
  { format, as, includeObject }: FormWish,
): ItemForm {
  if (as?.kind !== 'Table') return wireFormOf(resource, { format, ...(as === undefined ? {} : { as }), pretty: false }, identity)
  const rules: RuleContext = { identity, gates, now: 0, user: anonymous, version: resource.version, forbidsPrivileged }
  return rowFormOf(resource, { identity, version: as.version, includeObject: includeObject ?? 'Metadata', rules })
}
