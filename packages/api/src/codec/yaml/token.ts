// YAML tokens.

export type TokenKind =
  | 'stream-end'
  | 'directive'
  | 'document-start'
  | 'document-end'
  | 'sequence-start'
  | 'mapping-start'
  | 'block-end'
  | '['
  | ']'
  | '{'
  | '}'
  | ','
  | '-'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'

export interface Token {
  readonly kind: TokenKind
  readonly line: number
  /** Text of a scalar, alias or anchor; suffix of a tag; value of a directive. */
  readonly value?: string
  /** Handle of a tag or name of a directive. */
  readonly name?: string
  /** True for a scalar without quotes or block indicator. */
  readonly isPlain?: boolean
}
