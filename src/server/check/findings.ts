// What a check found: failures and remarks with their places, and what expressions cost.

export interface Finding {
  readonly severity: 'failure' | 'warning'
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  /** Where its object begins. */
  readonly objectLine: number
  /** The object, as people name it: `apps/v1 Deployment web`; empty where there is none. */
  readonly object: string
  /** The path of the field; empty for the object as a whole. */
  readonly field: string
  readonly message: string
  /** What the parts of an expression gave, where that was asked for. */
  readonly trace?: readonly TracedPart[]
}

export interface TracedPart {
  readonly text: string
  readonly value: string
}

/** An expression of a definition or a policy, over all objects that it was asked about. */
export interface ExpressionCost {
  readonly file: string
  readonly line: number
  readonly object: string
  readonly field: string
  readonly text: string
  /** At worst; undefined where nothing bounds it. */
  readonly estimated: bigint | undefined
  /** How often it was asked, and how often it did not hold. */
  readonly asked: number
  readonly failed: number
  /** The most that one evaluation cost. */
  readonly actual: number
}

export interface CheckedObject {
  readonly file: string
  readonly line: number
  readonly object: string
}

export interface CheckResult {
  readonly files: number
  readonly objects: readonly CheckedObject[]
  readonly findings: readonly Finding[]
  readonly expressions: readonly ExpressionCost[]
  readonly seconds: number
}

export const failuresOf = ({ findings }: Pick<CheckResult, 'findings'>): readonly Finding[] =>
  findings.filter(({ severity }) => severity === 'failure')
