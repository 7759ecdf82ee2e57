// The rules of what draws a pod to nodes and to other pods, or keeps it away from them.

import { type FieldError, invalid, required } from '../../../api/field-error.js'
import { checkEach, checkPart, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { validateLabelSelector } from '../../../api/validation/label-selector.js'
import { dnsLabel, qualifiedName } from '../../../api/validation/text-rules.js'
import { validateNodeSelector, validateNodeSelectorTerm } from '../node-selector.js'
import type { Affinity, NodeAffinity, PodAffinity, PodAffinityTerm } from '../v1.schema.js'

export const validateAffinity = ({ nodeAffinity, podAffinity, podAntiAffinity }: Affinity, field: string): readonly FieldError[] =>
  joined(
    checkPart(nodeAffinity, `${field}.nodeAffinity`, validateNodeAffinity),
    checkPart(podAffinity, `${field}.podAffinity`, validatePodAffinity),
    checkPart(podAntiAffinity, `${field}.podAntiAffinity`, validatePodAffinity),
  )

const needed = 'requiredDuringSchedulingIgnoredDuringExecution'
const wanted = 'preferredDuringSchedulingIgnoredDuringExecution'

const checkWeight = (weight: number, field: string): readonly FieldError[] =>
  weight >= 1 && weight <= 100 ? noErrors : [invalid(`${field}.weight`, weight, 'must be in the range 1-100')]

const validateNodeAffinity = (affinity: NodeAffinity, field: string): readonly FieldError[] =>
  joined(
    checkPart(affinity[needed], `${field}.${needed}`, validateNodeSelector),
    checkEach(affinity[wanted], `${field}.${wanted}`, ({ weight = 0, preference = {} }, at) =>
      joined(checkWeight(weight, at), validateNodeSelectorTerm(preference, `${at}.preference`)),
    ),
  )

/** Affinity and anti-affinity are of the same form. */
const validatePodAffinity = (affinity: PodAffinity, field: string): readonly FieldError[] =>
  joined(
    checkEach(affinity[needed], `${field}.${needed}`, validateTerm),
    checkEach(affinity[wanted], `${field}.${wanted}`, ({ weight = 0, podAffinityTerm = {} }, at) =>
      joined(checkWeight(weight, at), validateTerm(podAffinityTerm, `${at}.podAffinityTerm`)),
    ),
  )

function validateTerm(term: PodAffinityTerm, field: string): readonly FieldError[] {
  const { labelSelector, namespaceSelector, namespaces, topologyKey = '' } = term
  return joined(
    validateLabelSelector(labelSelector, `${field}.labelSelector`),
    validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`),
    checkEach(namespaces, field, (name) => checkText(name, `${field}.namespace`, dnsLabel)),
    topologyKey === '' ? [required(`${field}.topologyKey`, 'can not be empty')] : noErrors,
    checkText(topologyKey, `${field}.topologyKey`, qualifiedName),
  )
}
