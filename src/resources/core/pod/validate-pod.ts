// What is checked of a pod whenever it is written, and what only when it is new.

import type { RuleContext } from '../../../api/definition.js'
import { type FieldError, forbidden } from '../../../api/field-error.js'
import { checkEach, joined } from '../../../api/validation/collect.js'
import { noErrors } from '../../../api/validation/fields.js'
import { validatePodAnnotations } from '../pod-spec/annotations.js'
import { checkImageSpace } from '../pod-spec/containers.js'
import { validateSeccompAgreement } from '../pod-spec/seccomp.js'
import { validatePodSpec } from '../pod-spec/validate-pod-spec.js'
import { validateTokenAccount } from '../pod-spec/volumes.js'
import type { Pod } from '../v1.schema.js'

/** Beyond the spec, some things are asked of pods but not of templates, which were stored without them. */
export function validatePod({ metadata = {}, spec = {} }: Pod, context: RuleContext): readonly FieldError[] {
  const podName = metadata.name ?? ''
  return joined(
    validatePodAnnotations({ annotations: metadata.annotations, spec }, 'metadata.annotations', context),
    validatePodSpec(spec, 'spec', podName === '' ? context : { ...context, podName }),
    (spec.serviceAccountName ?? '') === '' ? validateTokenAccount(spec.volumes, 'spec.volumes') : noErrors,
    checkEach(spec.containers, 'spec.containers', checkImageSpace),
    checkEach(spec.initContainers, 'spec.initContainers', checkImageSpace),
  )
}

export function validateNewPod(pod: Pod, context: RuleContext): readonly FieldError[] {
  const { metadata = {}, spec = {} } = pod
  return joined(
    validatePod(pod, context),
    spec.ephemeralContainers === undefined ? noErrors : [forbidden('spec.ephemeralContainers', 'cannot be set on create')],
    (spec.nodeName ?? '') !== '' && spec.schedulingGates !== undefined
      ? [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : noErrors,
    validateSeccompAgreement({ metadata, spec }, 'spec', context.identity),
  )
}
