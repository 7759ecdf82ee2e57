// History of a run as plain records: operations of clients and their results, the only input of the checker.
//
// Every write carries a unique write ID. Create and update set `v` to the write ID and clear `p`; a patch sets `p` and must keep `v`.
// All times are from the clock of the client process.

/** One version of an object, as a client saw it. */
export interface Version {
  readonly key: string
  readonly uid: string
  readonly revision: number
  readonly v: string
  readonly p: string
  /** Label for selectors. */
  readonly group: string
}

interface Operation {
  readonly client: string
  readonly server: string
  readonly startMs: number
  readonly endMs: number
}

export type WriteVerb = 'create' | 'update' | 'patch' | 'delete'

export type WriteOutcome =
  /** A delete response has only a uid. */
  | { readonly kind: 'ok'; readonly version?: Version; readonly uid?: string }
  /** Rejected: not applied. */
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string }
  /** No response, or an ambiguous one. */
  | { readonly kind: 'unknown'; readonly why: string }

export interface Write extends Operation {
  readonly type: 'write'
  readonly verb: WriteVerb
  readonly key: string
  /** Empty for deletes. */
  readonly writeId: string
  /** Undefined: the group does not change. */
  readonly group?: string
  /** Preconditions: resourceVersion, uid, value of `v`. */
  readonly expectRevision?: number
  readonly expectUid?: string
  readonly expectV?: string
  readonly outcome: WriteOutcome
}

/** Required freshness: latest, any, at least or exactly a revision. */
export type Freshness = 'recent' | 'any' | { readonly least: number } | { readonly exactly: number }

export interface Read extends Operation {
  readonly type: 'read'
  readonly key: string
  readonly freshness: Freshness
  /** Undefined: not found. */
  readonly found: Version | undefined
}

export interface Page {
  readonly revision: number
  readonly versions: readonly Version[]
}

export interface Listing extends Operation {
  readonly type: 'list'
  readonly freshness: Freshness
  readonly group: string | undefined
  readonly pages: readonly Page[]
  /** False: a later page failed, so the list is incomplete. */
  readonly isWhole: boolean
}

export interface SeenObject {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly atMs: number
  readonly revision: number
  /** Undefined for bookmarks. */
  readonly version?: Version
}

export interface WatchRecord extends Operation {
  readonly type: 'watch'
  /** Start: after a revision, or with the initial state, latest or any. */
  readonly from: number | 'recent' | 'any'
  readonly group: string | undefined
  readonly seen: readonly SeenObject[]
  readonly ending: string
}

export type Record = Write | Read | Listing | WatchRecord

export interface History {
  readonly records: readonly Record[]
  /** Revision at the start, without objects. */
  readonly base: number
}
