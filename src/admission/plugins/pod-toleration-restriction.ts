// Pods get the tolerations of their namespace, and have none that it does not allow.

import { sameValue } from '../../api/validation/same-value.js'
import { qosClassOf } from '../../resources/core/pod/qos-class.js'
import { validateTolerations } from '../../resources/core/pod-spec/tolerations.js'
import type { Toleration } from '../../resources/core/v1.schema.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { TolerationLists } from '../config/toleration-lists.js'
import type { Lookup } from '../lookup.js'
import { changedPod, refuseBy, refusePod, withSpec } from '../pods.js'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }

export function podTolerationRestriction(lookup: Lookup, { defaults, allowed }: TolerationLists): Plugin {
  /** Undefined where the namespace says nothing. */
  function listOf(request: AdmissionRequest, word: string): readonly Toleration[] | undefined {
    const name = request.identity.label(word, 'scheduler.alpha')
    const text = lookup.read(namespaces, { name: request.namespace })?.metadata?.annotations?.[name]
    return text === undefined ? undefined : refuseBy(request, () => parseTolerations(text, name))
  }
  return {
    name: 'PodTolerationRestriction',
    collections: ['pods'],
    mutate: (request) => {
      const pod = changedPod(request)
      if (pod === undefined) return undefined
      const given = request.operation === 'CREATE' ? (listOf(request, 'defaultTolerations') ?? defaults) : []
      // Whoever was promised memory stays when it gets scarce.
      const isPromised = qosClassOf(pod.spec ?? {}) !== 'BestEffort'
      const pressure = { key: request.identity.label('memory-pressure', 'node'), operator: 'Exists', effect: 'NoSchedule' }
      const more = isPromised ? [...given, pressure] : given
      return more.length === 0 ? undefined : withSpec(pod, { tolerations: mergeTolerations(pod.spec?.tolerations ?? [], more) })
    },
    validate: (request) => {
      const tolerations = changedPod(request)?.spec?.tolerations ?? []
      if (tolerations.length === 0) return
      const list = listOf(request, 'tolerationsWhitelist') ?? allowed
      if (list.length === 0 || tolerations.every((toleration) => list.some((wider) => includes(wider, toleration)))) return
      throw refusePod(request, 'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist')
    },
  }
}

function parseTolerations(text: string, annotation: string): readonly Toleration[] {
  if (text === '') return []
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`the annotation ${annotation} of the namespace is not JSON`)
  }
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null && !Array.isArray(each))
  if (!isList) throw new Error(`the annotation ${annotation} of the namespace is not a list of tolerations`)
  const [problem] = validateTolerations(value as readonly Toleration[], annotation)
  if (problem !== undefined) throw new Error(`${problem.field}: ${problem.message}`)
  return value as readonly Toleration[]
}

/** All of both, but for those that another one includes. */
function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second]
  const merged: Toleration[] = []
  for (const [i, toleration] of all.entries()) {
    if (merged.some((wider) => includes(wider, toleration))) continue
    if (all.slice(i + 1).some((wider) => !sameValue(wider, toleration) && includes(wider, toleration))) continue
    merged.push(toleration)
  }
  return merged
}

/** Whether one lets pass all that the other does, and for as long. */
function includes(wider: Toleration, narrower: Toleration): boolean {
  if (sameValue(wider, narrower)) return true
  const { key = '', operator = '', effect = '', value = '', tolerationSeconds } = wider
  if (key !== (narrower.key ?? '') && (key !== '' || operator !== 'Exists')) return false
  if (effect !== (narrower.effect ?? '') && effect !== '') return false
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (narrower.tolerationSeconds === undefined || narrower.tolerationSeconds > tolerationSeconds) return false
  }
  if (operator === 'Exists') return true
  return (narrower.operator ?? 'Equal') === 'Equal' && value === (narrower.value ?? '')
}
