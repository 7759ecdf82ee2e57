// What a pod security standard says of a pod: every check of the level, in the form of the release that is asked for.

import { getOrInsert } from '../../base/get-or-insert.js'
import { baselineChecks } from './baseline-checks.js'
import type { Check, CheckedPod, CheckPod, Violation } from './check.js'
import { type LevelVersion, minorOf, nameOf } from './policy.js'
import { restrictedChecks } from './restricted-checks.js'

/** The newest release that changed a check; later ones are checked like it. */
const newest = 25

const compiled = new Map<string, readonly CheckPod[]>()

/** All that is wrong, in the order of the checks. */
export function evaluatePod(policy: LevelVersion, pod: CheckedPod): readonly Violation[] {
  if (policy.level === 'privileged') return []
  const minor = Math.min(minorOf(policy.version), newest)
  const checks = getOrInsert(compiled, `${policy.level} ${minor}`, () => checksOf(policy.level, minor))
  const violations: Violation[] = []
  for (const check of checks) {
    const violation = check(pod)
    if (violation !== undefined) violations.push(violation)
  }
  return violations
}

function checksOf(level: string, minor: number): readonly CheckPod[] {
  const restricted = level === 'restricted' ? restrictedChecks.filter((check) => formOf(check, minor) !== undefined) : []
  const replaced = new Set(restricted.map(({ replaces }) => replaces))
  const kept = baselineChecks.filter(({ id }) => !replaced.has(id))
  return [...kept, ...restricted].flatMap((check) => formOf(check, minor) ?? [])
}

const formOf = ({ versions }: Check, minor: number): CheckPod | undefined => versions.findLast(({ since }) => since <= minor)?.check

export const reasonsOf = (violations: readonly Violation[]): string => violations.map(({ reason }) => reason).join(', ')

export const detailsOf = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')

/** The words of a refusal; with `would` those of a warning. */
export const violationText = (policy: LevelVersion, violations: readonly Violation[], would = false): string =>
  `${would ? 'would violate' : 'violates'} PodSecurity "${nameOf(policy)}": ${detailsOf(violations)}`
