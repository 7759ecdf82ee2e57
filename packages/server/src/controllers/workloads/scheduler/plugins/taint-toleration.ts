// TaintToleration: taints that the pod does not tolerate; soft ones lower the score.

import { schedulingEffects, tolerates, untoleratedTaint } from '../../kit/tolerations.js'
import { type NodePlugin, refuseFinally, scaledToHighest } from './plugin.js'

export const taintToleration: NodePlugin = {
  name: 'TaintToleration',
  prepare: ({ pod }) => {
    const tolerations = pod.spec?.tolerations ?? []
    return {
      filter: ({ facts }) => {
        if (facts.taints.length === 0) return undefined
        const taint = untoleratedTaint(facts.taints, tolerations, schedulingEffects)
        return taint && refuseFinally(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`)
      },
    }
  },
  weight: 3,
  score: ({ pod }, _, nodes) => {
    if (nodes.every(({ facts }) => facts.taints.length === 0)) return undefined
    const soft = (pod.spec?.tolerations ?? []).filter(({ effect = '' }) => effect === '' || effect === 'PreferNoSchedule')
    const counts = nodes.map(
      ({ facts }) =>
        facts.taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !soft.some((toleration) => tolerates(toleration, taint)))
          .length,
    )
    return scaledToHighest(counts, true)
  },
}
