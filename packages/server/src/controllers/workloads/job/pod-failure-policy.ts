// Pod failure policy of a Job: what its rules say about a failed pod.

import type { Job, PodFailurePolicyRule } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'

type Policy = NonNullable<Job['spec']>['podFailurePolicy']

export interface FailureVerdict {
  /** False if a rule ignores the failure: it does not count towards the back-off limit. */
  readonly isCounted: boolean
  /** Message of the rule that fails the Job. */
  readonly failJobMessage?: string
}

/** Decides by the first rule that matches. */
export function judgeFailedPod(policy: Policy, pod: Pod): FailureVerdict {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const cause = matchRule(rule, pod)
    if (cause === undefined) continue
    if (rule.action === 'Ignore') return { isCounted: false }
    if (rule.action === 'Count') return { isCounted: true }
    if (rule.action === 'FailJob') return { isCounted: true, failJobMessage: `${cause} matching FailJob rule at index ${index}` }
  }
  return { isCounted: true }
}

/** Start of the message for a rule that matches the pod. */
function matchRule({ onExitCodes, onPodConditions }: PodFailurePolicyRule, { metadata, status }: Pod): string | undefined {
  const pod = `${metadata?.namespace}/${metadata?.name}`
  if (onExitCodes != null) {
    const { containerName, operator, values = [] } = onExitCodes
    for (const { name, state } of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]) {
      const exitCode = state?.terminated?.exitCode ?? 0
      if (exitCode === 0 || (containerName !== undefined && containerName !== name)) continue
      if (values.includes(exitCode) === (operator === 'In')) return `Container ${name} for pod ${pod} failed with exit code ${exitCode}`
    }
    return undefined
  }
  const found = status?.conditions?.find((condition) =>
    onPodConditions?.some((pattern) => pattern.type === condition.type && pattern.status === condition.status),
  )
  return found === undefined ? undefined : `Pod ${pod} has condition ${found.type}`
}
