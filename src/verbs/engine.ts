// What every verb works with besides the call: the store, admission, and what the server makes up itself.

import type { Admission } from '../admission/admission.js'
import type { AccountedChange, Accounts, CommitWith } from '../admission/quota/ledger.js'
import type { Call, RuleSettings } from '../api/call.js'
import type { ApiObject } from '../api/object.js'
import type { User } from '../api/user.js'
import type { Authenticator } from '../auth/authenticate.js'
import { type Authorizer, authorizeWith, refusal } from '../auth/authorize.js'
import type { GrantCheck } from '../auth/rbac/grant-check.js'
import type { AuthenticationTallies } from '../auth/tallies.js'
import type { TokenIssuer } from '../auth/token-issuer.js'
import type { Clock } from '../base/clock.js'
import type { ObjectAddress, ObjectStore, WriteOutcome } from '../objects/object-store.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { OnDemand } from './on-demand.js'
import type { Reserver } from './reserve.js'
import type { Steps } from './steps.js'

export interface Engine extends RuleSettings {
  readonly store: ObjectStore
  readonly admission: Admission
  readonly clock: Clock
  /** Who is asked about users and their rights, for kinds that are questions. */
  readonly access: {
    readonly authenticators: readonly Authenticator[]
    readonly authorizers: readonly Authorizer[]
    readonly tallies?: AuthenticationTallies
    /** Lets somebody in by a token, for a program that embeds the server. */
    readonly addToken?: (token: string, user: User) => void
  }
  /** Who signs tokens of service accounts. */
  readonly issuer?: TokenIssuer
  /** Whether somebody may give what a role or binding gives; left out: everybody may. */
  readonly checkGrant?: GrantCheck
  /** Checks that writers of admission policies and bindings are authorized to read the parameters. Runs on valid objects; left out: no check. */
  readonly checkParamAccess?: GrantCheck
  /** Other parts of the control plane, which are asked whether they are well. */
  readonly components?: readonly ComponentProbe[]
  /** How the agents on nodes are found; left out: as usual. */
  readonly agents?: AgentFinding
  /** The kinds that take what only one object may have. */
  readonly reservers: readonly Reserver[]
  /** Who counts what a namespace uses; left out: nobody does. */
  readonly accounts?: Accounts
  /** What is made when somebody asks for it. */
  readonly onDemand?: OnDemand
  /** Whether an object that is deleted never waits for its dependents, because nobody would see to them. */
  readonly ignoresDependents?: boolean
  /** How many objects of a collection are deleted at once. */
  readonly deletionWorkers?: number
  /** The worker threads for steps on large inputs; left out: all steps run on the event loop. */
  steps?: Steps
  readonly newUid: () => string
  /** A random letter or digit sequence for generated names. */
  readonly randomSuffix: (length: number) => string
}

export interface AgentFinding {
  /** Which addresses of a node are tried, in this order. */
  readonly addressTypes: readonly string[]
  /** The addresses of a name; rejects where there is none. */
  readonly lookup: (host: string) => Promise<readonly string[]>
}

export interface ComponentProbe {
  readonly name: string
  probe(patienceMs: number): Promise<{ readonly isWell: boolean; readonly message: string }>
}

/**
 * Begins every write: what is stored is looked at as it is now, so that a client that comes from another replica meets what it was told there.
 * Nothing has to be waited for where nobody else writes.
 */
export function upToDate({ store }: Engine, call: Call): undefined | Promise<unknown> {
  const waiting = store.readIndex('write')
  return waiting instanceof Promise ? call.waitFor(waiting) : undefined
}

/** Whoever makes an object in the course of an update or patch must be allowed to create it, too. */
export async function checkMayCreate({ access }: Engine, { caller: { info, user } }: Call): Promise<void> {
  if (info === undefined) return
  const asked = { user, info: { ...info, verb: 'create' } }
  const decision = await authorizeWith(access.authorizers, asked)
  if (decision.verdict === 'allow') return
  if (decision.error !== undefined) throw new Error(decision.error)
  throw refusal(asked, decision)
}

/** Of an object for which something was taken (an address, a port): a commit that throws may have been written all the same, and keeps it. */
export interface Fate {
  mayBeWritten: boolean
}

/** Stores a change together with what is counted for it. The outcome tells whoever waits for it the fate as well, and no second promise does. */
export function accounted(
  engine: Engine,
  call: Call,
  change: AccountedChange,
  commit: CommitWith,
  fate: Fate = { mayBeWritten: false },
): Promise<WriteOutcome> {
  const account = engine.accounts?.accountFor(call, change)
  if (account === undefined) {
    fate.mayBeWritten = true
    return commit(nothing)
  }
  return account(async (alongside) => {
    fate.mayBeWritten = true
    const outcome = await commit(alongside)
    fate.mayBeWritten = outcome.ok
    return outcome
  })
}

const nothing: readonly never[] = []

export const addressOf = (call: Call, name = call.name): ObjectAddress => ({ resource: call.resource, namespace: call.namespace, name })

/** What a write leaves behind: the stored object, or for a dry run the object as it would be. */
export interface Written {
  readonly created: boolean
  readonly result: WrittenObject
}

export type WrittenObject =
  | { readonly stored: StoredObject; readonly object?: undefined }
  | { readonly stored?: undefined; readonly object: ApiObject }
