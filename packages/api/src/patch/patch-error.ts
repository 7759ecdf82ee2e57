// Error of a patch or apply. Its kind determines the HTTP status; its message is for the client.

export type PatchErrorKind =
  /** 400: not a patch of its type. */
  | 'malformed'
  /** 413: more operations than allowed. */
  | 'too-many-operations'
  /** 422: a `test` operation failed. */
  | 'test-failed'
  /** 422: the path of an operation does not exist. */
  | 'missing-path'
  /** 422: an unknown or incomplete operation. */
  | 'bad-operation'
  /** 422: copies exceed the limit. */
  | 'copy-too-large'
  /** 422: the patch does not fit the object. */
  | 'unprocessable'
  /** 400: the applied configuration does not fit the schema. */
  | 'untyped'
  /** 409: other field managers own the fields. */
  | 'conflict'

export interface ConflictCause {
  readonly reason: 'FieldManagerConflict'
  readonly message: string
  readonly field: string
}

export class PatchError extends Error {
  override readonly name = 'PatchError'
  readonly kind: PatchErrorKind
  readonly causes: readonly ConflictCause[]
  constructor(kind: PatchErrorKind, message: string, causes: readonly ConflictCause[] = []) {
    super(message)
    this.kind = kind
    this.causes = causes
  }
}
