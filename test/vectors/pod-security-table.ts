// The table of pods and what each level and version of the pod security standards says of them.

import { detailsOf, evaluatePod, reasonsOf, violationText } from '../../src/admission/pod-security/evaluate.js'
import { isLevel } from '../../src/admission/pod-security/policy.js'
import { identityOf } from '../../src/api/identity.js'
import type { PodSpec } from '../../src/resources/core/v1.schema.js'

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
    const found = evaluated(row)
    const wanted = row.allowed ? ['', '', ''] : [row.forbiddenReason, row.forbiddenDetail, row.message]
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      differences.set(name, `${JSON.stringify(found)} and not ${JSON.stringify(wanted)} for ${JSON.stringify(row.pod)}`)
  }
  return { compared, differences }
}

function evaluated({ level, version, pod }: PodCase): readonly string[] {
  if (!isLevel(level)) return [`there is no level ${level}`, '', '']
  const policy = { level, version }
  const checked = { annotations: pod.metadata?.annotations ?? {}, spec: pod.spec, identity: identityOf('kubernetes') }
  const violations = evaluatePod(policy, checked)
  return violations.length === 0 ? ['', '', ''] : [reasonsOf(violations), detailsOf(violations), violationText(policy, violations)]
}
