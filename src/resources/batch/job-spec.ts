// The spec of a job, in jobs themselves and in the templates of cron jobs.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative, noErrors } from '../../api/validation/fields.js'
import { validateTemplate } from '../core/pod-template-rules.js'
import { validateFailurePolicy } from './failure-policy.js'
import type { JobSpec } from './v1.schema.js'

const indexedParallelismLimit = 100_000
const modes = ['NonIndexed', 'Indexed']
const numbers = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'] as const

export function validateJobSpec(spec: JobSpec, field: string, context: RuleContext): readonly FieldError[] {
  let counts = noErrors
  for (const name of numbers) counts = joined(counts, checkNotNegative(spec[name] ?? 0, `${field}.${name}`))
  return joined(
    counts,
    validateMode(spec, field),
    spec.podFailurePolicy === undefined ? noErrors : validateFailurePolicy(spec, `${field}.podFailurePolicy`),
    validateTemplate(spec.template ?? {}, `${field}.template`, context),
    validateRestartPolicy(spec, `${field}.template.spec.restartPolicy`),
  )
}

function validateMode({ completionMode, completions, parallelism = 0 }: JobSpec, field: string): readonly FieldError[] {
  if (completionMode === undefined) return noErrors
  if (completionMode !== 'Indexed') {
    return modes.includes(completionMode) ? noErrors : [notSupported(`${field}.completionMode`, completionMode, modes)]
  }
  const problem = `must be less than or equal to ${indexedParallelismLimit} when completion mode is Indexed`
  return joined(
    completions === undefined ? [required(`${field}.completions`, 'when completion mode is Indexed')] : noErrors,
    parallelism > indexedParallelismLimit ? [invalid(`${field}.parallelism`, parallelism, problem)] : noErrors,
  )
}

const endingPolicies = ['OnFailure', 'Never']

/** Pods of a job come to an end, so that they are not always started again; and failures that are judged are not hidden by restarts. */
function validateRestartPolicy({ template, podFailurePolicy }: JobSpec, field: string): readonly FieldError[] {
  const policy = template?.spec?.restartPolicy ?? ''
  if (policy === '' || policy === 'Always') return [required(field, 'valid values: "OnFailure", "Never"')]
  if (!endingPolicies.includes(policy)) return [notSupported(field, policy, endingPolicies)]
  if (podFailurePolicy === undefined || policy === 'Never') return noErrors
  return [invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')]
}
