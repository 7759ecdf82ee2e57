// POST: creates an object.

import { ApiError, alreadyExists, badRequest, generatedNameExists, unavailable } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { isDryRun } from '@cluster-apiserver/api/api/options/write-options.js'
import { withDistinctOwners } from '@cluster-apiserver/api/api/validation/metadata/object-meta.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { AdmissionRequest } from '../admission/admission-plugin.js'
import type { CommitWith } from '../admission/quota/resource-quota.js'
import { bytesOf } from '../objects/entry/entry-header.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import { hasDeletionTimestamp } from '../objects/owner-index.js'
import { addressOf, awaitReadIndex, type CommitState, checkCreatePermission, commitWithQuota, type Engine, type Written } from './engine.js'
import { trackCreate } from './managed-fields.js'
import { reserve } from './reserve/reserve.js'
import { asStored, converting, runWithConversions, toStored } from './version-conversion.js'
import { checkObjectSize, validateAndEncode, workerStepsFor } from './write-steps.js'

interface CreateRequest {
  readonly object: ApiObject
  /** True if managedFields are tracked already, by an apply. */
  readonly isTracked?: boolean
  /** True when PUT or apply creates a missing object; the caller then also needs the `create` permission. */
  readonly isUpsert?: boolean
}

/** Attempts to allocate unique values such as Service IPs; after a failed one another writer has the value, so fewer are free. */
const maxUniqueKeyAttempts = 200
/** Attempts to find a free generated name. */
const maxNameAttempts = 8
const maxNameLength = 63
const suffixLength = 5

export async function create(engine: Engine, call: Call, request: CreateRequest): Promise<Written> {
  await awaitReadIndex(engine, call)
  const steps = request.isTracked ? undefined : workerStepsFor(engine, call)
  const placed = await (steps?.create(call, request.object) ?? runWithConversions(call, () => createdObject(call, request)))
  const dryRun = isDryRun(call.options)
  const admission = new AdmissionRequest(call, 'CREATE', { object: placed, old: undefined })
  const mutated = (await engine.admission.mutate(admission)) ?? placed
  // A plugin may rename the object, but neither move it to another namespace nor mark it as deleted.
  const admitted = mutated === placed ? placed : withoutDeletionTimestamp(inNamespace(call, mutated))
  await engine.checkGrant?.(call, { next: admitted, old: undefined })
  for (let tries = 1; ; tries++) {
    // The name is generated before the reservation, whose errors name the object.
    const reserved = await reserve(engine, call, { next: withGeneratedName(engine, admitted), old: undefined, dryRun })
    const state: CommitState = { mayBeWritten: false }
    try {
      const object = prepare(engine, call, reserved.object)
      const encoded = await validateAndEncode(engine, call, object, undefined)
      await engine.checkParamAccess?.(call, { next: object, old: undefined })
      if (request.isUpsert) await checkCreatePermission(engine, call)
      await engine.admission.validate(admission.withObject(object))
      const stored = await converting(call, () => asStored(call, object))
      if (dryRun) return dryRunResult(engine, call, withMetadata(stored, { resourceVersion: admitted.metadata?.resourceVersion }))
      checkNoResourceVersion(engine, call, { sent: admitted, object })
      call.throwIfAborted()
      if (isAdmissionStale(engine, call)) await repeatAdmission(engine, call, admission)
      const value = encoded ?? engine.store.encode(call.resource, stored)
      checkObjectSize(engine, call, { next: stored, value })
      const address = addressOf(call, object.metadata?.name)
      const uniqueKeys = { gained: reserved.gained, released: [] }
      const put: CommitWith = (alongside) => {
        // Checked again at the commit, which may have waited for other writes that charge the same quota.
        state.mayBeWritten = false
        call.resource.definition.checkCreatable?.()
        state.mayBeWritten = true
        return engine.store.put(address, value, { expect: 0, uniqueKeys, alongside, object: stored })
      }
      const outcome = await commitWithQuota(engine, call, { next: stored, old: undefined }, put, state)
      state.mayBeWritten = outcome.ok
      if (outcome.ok) return { created: true, result: { stored: outcome.object } }
      if (outcome.isTaken) {
        if (tries >= maxUniqueKeyAttempts) throw unavailable('too many concurrent requests allocate the same addresses or ports; try again')
        continue
      }
      const isGenerated = !admitted.metadata?.name && admitted.metadata?.generateName
      if (!isGenerated || tries >= maxNameAttempts) throw alreadyExistsError(call, object, outcome.current)
    } finally {
      if (!state.mayBeWritten && reserved.release !== undefined) await reserved.release()
    }
  }
}

/** Age of a request at which admission is checked again; shorter than the delay before a deleted namespace is emptied. */
const staleAdmissionMs = 500

const isAdmissionStale = ({ clock }: Engine, { now }: Call): boolean => Math.abs(clock.now() - now) >= staleAdmissionMs

async function repeatAdmission(engine: Engine, call: Call, admission: AdmissionRequest): Promise<void> {
  // Without `call`: what a filter waited for is as old as the request.
  await call.waitFor(Promise.resolve(engine.store.readIndex()))
  engine.admission.recheck?.(admission)
}

/** The sent object in the storage version. managedFields are tracked before admission: fields added by plugins have no manager. */
export function createdObject(call: Call, { object, isTracked = false }: CreateRequest): ApiObject {
  const placed = withoutDeletionTimestamp(inNamespace(call, object))
  return toStored(call, isTracked ? placed : trackCreate(call, withDistinctOwners(placed, call.warn)))
}

/** Clients cannot set deletionTimestamp; only DELETE does. */
const withoutDeletionTimestamp = (object: ApiObject): ApiObject =>
  withMetadata(object, { deletionTimestamp: undefined, deletionGracePeriodSeconds: undefined })

/** The namespace is that of the URL; the body may only repeat it. */
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

/** kube-apiserver reports a resourceVersion in a new object after all other errors. */
function checkNoResourceVersion(
  engine: Engine,
  call: Call,
  { sent, object }: { readonly sent: ApiObject; readonly object: ApiObject },
): void {
  // As in kube-apiserver, other text is ignored.
  if (!versionNumber(sent.metadata?.resourceVersion)) return
  const current = engine.store.read(addressOf(call, object.metadata?.name))
  if (current !== undefined) throw alreadyExistsError(call, object, current)
  throw badRequest('resourceVersion should not be set on objects to be created')
}

/** Returns undefined if the text is not a number of 64 bits. An absent resourceVersion is 0. */
function versionNumber(version = '0'): bigint | undefined {
  const number = /^\d{1,20}$/.test(version) ? BigInt(version) : undefined
  return number !== undefined && BigInt.asUintN(64, number) === number ? number : undefined
}

/** Throws 400 unless the resourceVersion is a number. */
export function requireVersionNumber({ metadata }: ApiObject): bigint {
  const version = metadata?.resourceVersion
  const number = versionNumber(version)
  if (number !== undefined) return number
  throw badRequest(
    `metadata.resourceVersion: the value ${JSON.stringify(shorten(version ?? ''))} is not a version of this server: a whole number is expected`,
  )
}

function withGeneratedName(engine: Engine, object: ApiObject): ApiObject {
  const { name, generateName } = object.metadata ?? {}
  return name || !generateName
    ? object
    : withMetadata(object, { name: generateName.slice(0, maxNameLength - suffixLength) + engine.randomSuffix(suffixLength) })
}

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
  if (current !== undefined) throw alreadyExistsError(call, object, current)
  return { created: true, result: { object } }
}

function alreadyExistsError(call: Call, { metadata }: ApiObject, current: StoredObject | undefined): ApiError {
  const { subject } = call.resource
  const name = metadata?.name ?? ''
  const error = metadata?.generateName ? generatedNameExists(subject, name) : alreadyExists(subject, name)
  if (current === undefined || !hasDeletionTimestamp(bytesOf(current.entry))) return error
  return new ApiError({ ...error.status, message: `object is being deleted: ${error.status.message}` })
}
