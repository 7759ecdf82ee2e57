// Why a patch cannot be applied. Whoever answers the request turns the kind into a status; the text is for the client.

export type PatchErrorKind =
  /** The patch is no patch of its type: 400. */
  | 'malformed'
  /** More operations than a patch may have: 413. */
  | 'too-many-operations'
  /** A `test` found another value: 422. */
  | 'test-failed'
  /** An operation points at nothing: 422. */
  | 'missing-path'
  /** An operation that does not exist, or lacks what it needs: 422. */
  | 'bad-operation'
  /** The copies would grow beyond the limit: 422. */
  | 'copy-too-large'
  /** The patch does not fit the object: 422. */
  | 'unprocessable'
  /** An applied configuration does not fit the schema: 400. */
  | 'untyped'
  /** Other managers own what an apply would change: 409. */
  | 'conflict'

export interface ConflictCause {
  readonly reason: 'FieldManagerConflict'
  /** Such as `conflict with "m1"`. */
  readonly message: string
  /** Such as `.data.k`. */
  readonly field: string
}

export class PatchError extends Error {
  override readonly name = 'PatchError'
  readonly kind: PatchErrorKind
  /** One for each field and manager of a conflict. */
  readonly causes: readonly ConflictCause[]
  constructor(kind: PatchErrorKind, message: string, causes: readonly ConflictCause[] = []) {
    super(message)
    this.kind = kind
    this.causes = causes
  }
}
