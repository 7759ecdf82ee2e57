// What clients did and saw, as plain records: the only thing that the checker knows of a run.
//
// Every write carries a mark of its own, so that what is seen later tells who wrote it. A creation or an update sets `v` to its mark and
// empties `p`; a patch sets `p` to its mark and must leave `v` as it was. Times are of one clock, that of the process that runs all clients.

/** One version of one object, as somebody saw it. */
export interface Version {
  readonly key: string
  readonly uid: string
  readonly revision: number
  readonly v: string
  readonly p: string
  /** A label, for selectors. */
  readonly group: string
}

interface Deed {
  readonly client: string
  readonly server: string
  readonly startMs: number
  readonly endMs: number
}

export type WriteVerb = 'create' | 'update' | 'patch' | 'delete'

export type WriteOutcome =
  /** A deletion has only a uid. */
  | { readonly kind: 'ok'; readonly version?: Version; readonly uid?: string }
  /** It did not happen, and will not. */
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string }
  /** No answer, or one that leaves open whether it happened. */
  | { readonly kind: 'unknown'; readonly why: string }

export interface Write extends Deed {
  readonly what: 'write'
  readonly verb: WriteVerb
  readonly key: string
  /** Empty for a deletion. */
  readonly mark: string
  /** Left out: the group stays as it is. */
  readonly group?: string
  /** What must be so for the write to happen: the version, the uid, the value of `v`. */
  readonly expectRevision?: number
  readonly expectUid?: string
  readonly expectV?: string
  readonly outcome: WriteOutcome
}

/** How new an answer must be: of now, any, at least or exactly of a revision. */
export type Freshness = 'recent' | 'any' | { readonly least: number } | { readonly exactly: number }

export interface Read extends Deed {
  readonly what: 'read'
  readonly key: string
  readonly freshness: Freshness
  /** Undefined: it was not there. */
  readonly found: Version | undefined
}

export interface Page {
  readonly revision: number
  readonly versions: readonly Version[]
}

export interface Listing extends Deed {
  readonly what: 'list'
  readonly freshness: Freshness
  readonly group: string | undefined
  readonly pages: readonly Page[]
  /** False: a later page could not be had, and the list is only a beginning. */
  readonly isWhole: boolean
}

export interface Seen {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly atMs: number
  readonly revision: number
  /** Of a bookmark: nothing. */
  readonly version?: Version
}

export interface Watching extends Deed {
  readonly what: 'watch'
  /** Everything after this revision; or the state first, of now or of any time. */
  readonly from: number | 'recent' | 'any'
  readonly group: string | undefined
  readonly seen: readonly Seen[]
  readonly ending: string
}

export type Record = Write | Read | Listing | Watching

export interface History {
  readonly records: readonly Record[]
  /** Where the story begins: nothing was there. */
  readonly base: number
}
