// Dependencies of the verbs (store, admission, authorization, worker threads, clock, id generators), and functions that verbs share.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Call, RuleSettings } from '@cluster-apiserver/api/api/call.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { CompiledFieldSelector } from '@cluster-apiserver/api/api/selectors/field-selector.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import type { Clock, Timers } from '@cluster-apiserver/api/base/clock.js'
import type { Admission } from '../admission/admission.js'
import type { AccountedChange, Accounts, CommitWith } from '../admission/quota/resource-quota.js'
import type { AuthenticationCounters, Authenticator } from '../auth/authenticate.js'
import { type Authorizer, authorizeWith, forbiddenError } from '../auth/authorize.js'
import type { EscalationCheck } from '../auth/rbac/escalation-check.js'
import type { TokenIssuer } from '../auth/service-account/service-account-token-issuer.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import type { ObjectAddress, ObjectStore, WriteOutcome } from '../objects/object-store.js'
import type { Reserver } from './reserve/reserver.js'
import type { WorkerSteps } from './worker-steps.js'

export interface Engine extends RuleSettings {
  readonly store: ObjectStore
  readonly admission: Admission
  readonly clock: Clock
  /** Timers of watches. Absent: real time. */
  readonly timers?: Timers
  readonly access: {
    readonly authenticators: readonly Authenticator[]
    readonly authorizers: readonly Authorizer[]
    readonly counters?: AuthenticationCounters
    readonly addToken?: (token: string, user: User) => void
  }
  readonly issuer?: TokenIssuer
  /** RBAC escalation check: rejects roles and bindings that grant more than the caller has. Absent: no check. */
  readonly checkGrant?: EscalationCheck
  /** Checks that writers of admission policies and bindings may read their parameters. Runs on valid objects. Absent: no check. */
  readonly checkParamAccess?: EscalationCheck
  /** Control plane components shown as ComponentStatus. */
  readonly components?: readonly ComponentProbe[]
  readonly kubelets?: KubeletAddressing
  readonly reservers: readonly Reserver[]
  /** Charges ResourceQuotas. Absent: no quotas. */
  readonly accounts?: Accounts
  readonly onDemand?: OnDemandObjects
  /** True without a garbage collector: deletes then never wait for dependents. */
  readonly ignoresDependents?: boolean
  readonly deletionWorkers?: number
  /** Called after each commit that succeeded: the object, and the call that wrote it if there is one. Absent without a test kit. */
  readonly onCommit?: CommitListener
  /** Worker threads for steps on large inputs. Absent: all steps run on the event loop. */
  steps?: WorkerSteps
  /** Resource usage of simulated nodes and their pods, for the metrics API. Absent without simulated nodes. */
  usage?: ResourceUsage
  readonly newUid: () => string
  /** Random suffix of a generated name. */
  readonly randomSuffix: (length: number) => string
}

export type CommitListener = (written: StoredObject, call?: Call) => void

interface ResourceUsage {
  /** NodeMetrics. */
  ofNodes(): Promise<readonly ApiObject[]>
  /** PodMetrics of a namespace; of all if it is empty. */
  ofPods(namespace: string): Promise<readonly ApiObject[]>
}

export interface KubeletAddressing {
  /** Types of node addresses in order of preference. */
  readonly addressTypes: readonly string[]
  /** Rejects if the name has no address. */
  readonly lookup: (host: string) => Promise<readonly string[]>
}

interface ComponentProbe {
  readonly name: string
  probe(timeoutMs: number): Promise<{ readonly isHealthy: boolean; readonly message: string }>
}

/** First step of every write, so that it sees all writes that other replicas acknowledged before. */
export const awaitReadIndex = async ({ store }: Engine, call: Call): Promise<void> => void (await store.readIndex(call))

/** A PUT or apply that creates a missing object also needs the `create` permission. */
export async function checkCreatePermission({ access }: Engine, { caller: { info, user } }: Call): Promise<void> {
  if (info === undefined) return
  const request = { user, info: { ...info, verb: 'create' } }
  const decision = await authorizeWith(access.authorizers, request)
  if (decision.verdict === 'allow') return
  if (decision.error !== undefined) throw new Error(decision.error)
  throw forbiddenError(request, decision)
}

/** A commit that throws may have been written: then reserved addresses and ports stay reserved. */
export interface CommitState {
  mayBeWritten: boolean
}

/** Stores a change together with its quota charges. */
export function commitWithQuota(
  engine: Engine,
  call: Call,
  change: AccountedChange,
  commit: CommitWith,
  state: CommitState = { mayBeWritten: false },
): Promise<WriteOutcome> {
  const account = engine.accounts?.accountFor(call, change)
  if (account === undefined) {
    state.mayBeWritten = true
    return committed(engine, call, commit(noOtherWrites))
  }
  return account(async (alongside) => {
    state.mayBeWritten = true
    const outcome = await committed(engine, call, commit(alongside))
    state.mayBeWritten = outcome.ok
    return outcome
  })
}

/** Every commit of a call passes here. Counts its time if the request is audited, and calls the engine's listener. */
export function committed({ onCommit }: Engine, call: Call, commit: Promise<WriteOutcome>): Promise<WriteOutcome> {
  const { addLatency } = call.caller
  if (addLatency === undefined && onCommit === undefined) return commit
  const begunMs = performance.now()
  const timed = addLatency === undefined ? commit : commit.finally(() => addLatency('etcd', performance.now() - begunMs))
  return onCommit === undefined
    ? timed
    : timed.then((outcome) => {
        if (outcome.ok) onCommit(outcome.object, call)
        return outcome
      })
}

const noOtherWrites: readonly never[] = []

export const addressOf = (call: Call, name = call.name): ObjectAddress => ({ resource: call.resource, namespace: call.namespace, name })

/** `result`: the stored object; for a dry run the object that would be stored. */
export interface Written {
  readonly created: boolean
  readonly result: WrittenObject
}

export type WrittenObject =
  | { readonly stored: StoredObject; readonly object?: undefined }
  | { readonly stored?: undefined; readonly object: ApiObject }

type CreateInNamespace = (namespace: string) => Promise<void>

export class OnDemandObjects {
  readonly #creators = new Map<string, CreateInNamespace>()

  /** Returns a function that removes the creator. */
  add({ collection, name }: { readonly collection: string; readonly name: string }, create: CreateInNamespace): () => void {
    const key = `${collection}/${name}`
    this.#creators.set(key, create)
    return () => void this.#creators.delete(key)
  }

  find(collection: string, name: string): CreateInNamespace | undefined {
    return this.#creators.get(`${collection}/${name}`)
  }
}

/** Creates a missing object that the server creates on first read, such as a root CA ConfigMap. Resolves with true if it did. */
export async function createOnDemand(engine: Engine, call: Call, name = call.name): Promise<boolean> {
  const { resource, namespace } = call
  const create = namespace === '' ? undefined : engine.onDemand?.find(resource.collection, name)
  if (create === undefined || engine.store.read(addressOf(call, name)) !== undefined) return false
  await call.waitFor(create(namespace).catch(ignoreUnwritable))
  return true
}

/** A read must not fail because the store cannot write (429, 503): the object is then reported as missing. */
function ignoreUnwritable(thrown: unknown): void {
  if (!(thrown instanceof ApiError) || ![429, 503].includes(thrown.status.code)) throw thrown
}

/** Calls createOnDemand for a list or watch that selects a single name. */
export async function createSelectedOnDemand(engine: Engine, call: Call, fields: CompiledFieldSelector | undefined): Promise<void> {
  const name = engine.onDemand === undefined ? undefined : fields?.exactValue('metadata.name')
  if (name !== undefined) await createOnDemand(engine, call, name)
}
