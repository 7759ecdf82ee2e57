// POST: an object that was not there. The eight steps of the house, top to bottom.

import { AdmissionRequest } from '../admission/admission.js'
import type { CommitWith } from '../admission/quota/ledger.js'
import { ApiError, alreadyExists, badRequest, generatedNameExists, unavailable } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import { type ApiObject, withMetadata } from '../api/object.js'
import { isDryRun } from '../api/options/write-options.js'
import { withDistinctOwners } from '../api/validation/owner-references.js'
import { bytesOf } from '../objects/entry-header.js'
import { isGoing } from '../objects/owner-fields.js'
import type { StoredObject } from '../objects/stored-object.js'
import { timeOf } from '../schema/scalars.js'
import { accounted, addressOf, checkMayCreate, type Engine, type Fate, upToDate, type Written } from './engine.js'
import { generatedName, maxNameAttempts } from './generated-name.js'
import { trackCreate } from './managed-fields.js'
import { refuseOversize } from './refuse-oversize.js'
import { reserve } from './reserve.js'
import { check, stepsFor } from './steps.js'
import { converting, toStored } from './versions.js'

export interface CreateRequest {
  readonly object: ApiObject
  /** Whether the owners of its fields are known already: an apply brings them. */
  readonly isTracked?: boolean
  /** Whether the request was for something else than to create. */
  readonly isByTheWay?: boolean
}

/** Each of them is lost to somebody who was given something, so there is always less to be lost. */
const maxUniqueKeyAttempts = 200

export async function create(engine: Engine, call: Call, request: CreateRequest): Promise<Written> {
  const waiting = upToDate(engine, call)
  if (waiting !== undefined) await waiting
  const steps = request.isTracked ? undefined : stepsFor(engine, call)
  const converted = steps?.create(call, request.object) ?? converting(call, () => createdObject(call, request))
  const placed = converted instanceof Promise ? await converted : converted
  const dryRun = isDryRun(call.options)
  const admission = new AdmissionRequest(call, 'CREATE', { object: placed, old: undefined })
  const pending = engine.admission.mutate(admission)
  const mutated = (pending instanceof Promise ? await pending : pending) ?? placed
  // A plugin may name the object anew, and neither put it elsewhere nor say that it goes already.
  const admitted = mutated === placed ? placed : unmarked(inNamespace(call, mutated))
  const granted = engine.checkGrant?.(call, { next: admitted, old: undefined })
  if (granted !== undefined) await granted
  for (let tries = 1; ; tries++) {
    // It has its name before it is given anything else: what cannot be given is refused under that name.
    const taking = reserve(engine, call, { next: named(engine, admitted), old: undefined, dryRun })
    const reserved = taking instanceof Promise ? await taking : taking
    const fate: Fate = { mayBeWritten: false }
    try {
      const object = prepare(engine, call, reserved.object)
      const encoded = await check(engine, call, object, undefined)
      const authorizing = engine.checkParamAccess?.(call, { next: object, old: undefined })
      if (authorizing !== undefined) await authorizing
      if (request.isByTheWay) await checkMayCreate(engine, call)
      const checked = engine.admission.validate(admission.withObject(object))
      if (checked instanceof Promise) await checked
      checkUnversioned(engine, call, { sent: admitted, object })
      if (dryRun) return dryRunResult(engine, call, object)
      call.throwIfAborted()
      if (isLate(engine, call)) await recheck(engine, call, admission)
      const value = encoded ?? engine.store.encode(call.resource, object)
      refuseOversize(engine, call, { next: object, value })
      const address = addressOf(call, object.metadata?.name)
      const uniqueKeys = { gained: reserved.gained, released: [] }
      const put: CommitWith = (alongside) => {
        // In the same turn: it may have waited for others whom the same quota counts.
        fate.mayBeWritten = false
        call.resource.definition.checkCreatable?.()
        fate.mayBeWritten = true
        return engine.store.put(address, value, { expect: 0, uniqueKeys, alongside })
      }
      const outcome = await accounted(engine, call, { next: object, old: undefined }, put, fate)
      fate.mayBeWritten = outcome.ok
      if (outcome.ok) return { created: true, result: { stored: outcome.object } }
      if (outcome.isTaken) {
        // Somebody else was given the same address a moment ago; another one may be free.
        if (tries >= maxUniqueKeyAttempts) throw unavailable('too many others want what this object wants; try again')
        continue
      }
      const isGenerated = !admitted.metadata?.name && admitted.metadata?.generateName
      if (!isGenerated || tries >= maxNameAttempts) throw exists(call, object, outcome.current)
    } finally {
      if (!fate.mayBeWritten && reserved.release !== undefined) await reserved.release()
    }
  }
}

/** Less than the time for which a namespace that was deleted is left as it is (controllers/namespace-deletion), so that writers can finish. */
const lateMs = 500

/** Whether so much time has passed, with hooks above all, that what was admitted may have no place any more. */
const isLate = ({ clock }: Engine, { now }: Call): boolean => Math.abs(clock.now() - now) >= lateMs

async function recheck(engine: Engine, call: Call, admission: AdmissionRequest): Promise<void> {
  const waiting = upToDate(engine, call)
  if (waiting !== undefined) await waiting
  engine.admission.recheck?.(admission)
}

/** The sent object in the stored version. managedFields are tracked before admission: fields that plugins add have no manager. */
export function createdObject(call: Call, { object, isTracked = false }: CreateRequest): ApiObject {
  const placed = unmarked(inNamespace(call, object))
  return toStored(call, isTracked ? placed : trackCreate(call, withDistinctOwners(placed, call.warn)))
}

/** Only a DELETE says that an object goes. */
const unmarked = (object: ApiObject): ApiObject =>
  withMetadata(object, { deletionTimestamp: undefined, deletionGracePeriodSeconds: undefined })

/** The path decides the namespace; a body may repeat it, not contradict it. */
export function inNamespace(call: Call, object: ApiObject): ApiObject {
  if ((object.metadata?.namespace ?? '') === call.namespace) return object
  checkNamespace(call, object)
  return withMetadata(object, { namespace: call.namespace === '' ? undefined : call.namespace })
}

export function checkNamespace({ namespace }: Call, { metadata }: ApiObject): void {
  const sent = metadata?.namespace ?? ''
  if (sent !== namespace && sent !== '' && namespace !== '')
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

/** Only what exists has a version. That is said last, when nothing else is wrong. */
function checkUnversioned(engine: Engine, call: Call, { sent, object }: { readonly sent: ApiObject; readonly object: ApiObject }): void {
  const version = sent.metadata?.resourceVersion
  if (version === undefined || version === '0') return
  const current = engine.store.read(addressOf(call, object.metadata?.name))
  if (current !== undefined) throw exists(call, object, current)
  throw badRequest('resourceVersion should not be set on objects to be created')
}

function named(engine: Engine, object: ApiObject): ApiObject {
  const { name, generateName } = object.metadata ?? {}
  return name || !generateName ? object : withMetadata(object, { name: generatedName(generateName, engine.randomSuffix) })
}

/** What only the server may say: uid, times; then the kind's own preparation. */
function prepare(engine: Engine, call: Call, object: ApiObject): ApiObject {
  const stamped = withMetadata(object, {
    uid: engine.newUid(),
    creationTimestamp: timeOf(call.now),
    resourceVersion: undefined,
    selfLink: undefined,
  })
  return call.resource.definition.prepareCreate?.(stamped, call) ?? stamped
}

function dryRunResult(engine: Engine, call: Call, object: ApiObject): Written {
  const current = engine.store.read(addressOf(call, object.metadata?.name))
  if (current !== undefined) throw exists(call, object, current)
  return { created: true, result: { object } }
}

function exists(call: Call, { metadata }: ApiObject, current: StoredObject | undefined): ApiError {
  const { subject } = call.resource
  const name = metadata?.name ?? ''
  const error = metadata?.generateName ? generatedNameExists(subject, name) : alreadyExists(subject, name)
  if (current === undefined || !isGoing(bytesOf(current.entry))) return error
  return new ApiError({ ...error.status, message: `object is being deleted: ${error.status.message}` })
}
