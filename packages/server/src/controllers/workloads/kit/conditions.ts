// Conditions of a status: find, set, remove.

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export const conditionOf = <C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined =>
  conditions?.find((condition) => condition.type === type)

export const withoutCondition = <C extends Condition>(conditions: readonly C[] | undefined, type: string): readonly C[] =>
  (conditions ?? []).filter((condition) => condition.type !== type)

/**
 * Sets a condition at the end of the list. An unchanged status and reason leave the list as it is; an unchanged status keeps
 * lastTransitionTime.
 */
export function withCondition<C extends Condition>(conditions: readonly C[] | undefined, condition: C): readonly C[] {
  const { type = '' } = condition
  const before = conditionOf(conditions, type)
  if (before !== undefined && before.status === condition.status && before.reason === condition.reason) return conditions ?? []
  const { lastTransitionTime } = before ?? {}
  const kept = before?.status === condition.status && lastTransitionTime !== undefined ? { lastTransitionTime } : {}
  return [...withoutCondition(conditions, type), { ...condition, ...kept }]
}

/** Without members that are 0: stored objects omit them, and responses show those that are required. */
export const withoutZeros = <T extends object>(status: T): T =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== 0 && value !== undefined)) as T
