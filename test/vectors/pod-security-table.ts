// Replays the table of Pod Security Standards: pods, levels and versions.

import { identityOf } from '../../packages/api/src/api/identity.js'
import type { PodSpec } from '../../packages/api/src/resources/core/v1.schema.js'
import { isLevel } from '../../packages/server/src/admission/pod-security/namespace-policy.js'
import { detailsOf, evaluatePod, reasonsOf, violationText } from '../../packages/server/src/admission/pod-security/pod-security.js'

interface PodCase {
  readonly level: string
  readonly version: string
  readonly pod: { readonly metadata?: { readonly annotations?: { readonly [name: string]: string } }; readonly spec: PodSpec }
  readonly allowed: boolean
  readonly forbiddenReason?: string
  readonly forbiddenDetail?: string
  readonly message?: string
}

export async function replayPodSecurity(
  text: string,
): Promise<{ readonly compared: readonly string[]; readonly differences: ReadonlyMap<string, string> }> {
  const compared: string[] = []
  const differences = new Map<string, string>()
  for (const [i, row] of (JSON.parse(text) as readonly PodCase[]).entries()) {
    const name = `${i} ${row.level}:${row.version}`
    compared.push(name)
    const actual = evaluate(row)
    const expected = row.allowed ? ['', '', ''] : [row.forbiddenReason, row.forbiddenDetail, row.message]
    if (JSON.stringify(actual) !== JSON.stringify(expected))
      differences.set(name, `${JSON.stringify(actual)} and not ${JSON.stringify(expected)} for ${JSON.stringify(row.pod)}`)
  }
  return { compared, differences }
}

function evaluate({ level, version, pod }: PodCase): readonly string[] {
  if (!isLevel(level)) return [`there is no level ${level}`, '', '']
  const policy = { level, version }
  const checked = { annotations: pod.metadata?.annotations ?? {}, spec: pod.spec, identity: identityOf('kubernetes') }
  const violations = evaluatePod(policy, checked)
  return violations.length === 0 ? ['', '', ''] : [reasonsOf(violations), detailsOf(violations), violationText(policy, violations)]
}
