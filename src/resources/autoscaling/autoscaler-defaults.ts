// What an autoscaler says when it says nothing, in each of its versions.

import type { Identity } from '../../api/identity.js'
import { sameValue } from '../../api/validation/same-value.js'
import { isSentEmpty } from '../../schema/sent-empty.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { defaultMetrics, hasTravellers, toV1, toV2 } from './autoscaler-conversion.js'
import type * as v1 from './v1.schema.js'
import type * as v2 from './v2.schema.js'

/** Where nothing says by what to scale, it is CPU. What travels in annotations is brought into its one form. */
export function withV1Defaults(object: v1.HorizontalPodAutoscaler, identity: Identity): v1.HorizontalPodAutoscaler {
  const spec = withMissing<v1.HorizontalPodAutoscalerSpec>(object.spec ?? {}, { minReplicas: 1 })
  const filled = spec === object.spec ? object : { ...object, spec }
  if (spec.targetCPUUtilizationPercentage !== undefined && !hasTravellers(object, identity)) return filled
  const normal = toV1(toV2(filled, identity), identity)
  return sameValue(normal, { status: {}, ...filled }) ? filled : normal
}

const scaleUp: v2.HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
/** How long to wait before scaling down is a setting of the controller. */
const scaleDown: v2.HPAScalingRules = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }

function withRules(behavior: v2.HorizontalPodAutoscalerBehavior): v2.HorizontalPodAutoscalerBehavior {
  const both = withMissing(behavior, { scaleUp, scaleDown })
  return withChanged(
    withChanged(both, 'scaleUp', (rules) => withRest(rules, scaleUp)),
    'scaleDown',
    (rules) => withRest(rules, scaleDown),
  )
}

/** Whoever says that there are no policies is not given any, and refused for it. */
function withRest(rules: v2.HPAScalingRules, { policies = [], ...rest }: v2.HPAScalingRules): v2.HPAScalingRules {
  return withMissing(rules, isSentEmpty(rules, 'policies') ? rest : { ...rest, policies })
}

export function withV2Defaults(object: v2.HorizontalPodAutoscaler): v2.HorizontalPodAutoscaler {
  const filled = withMissing<v2.HorizontalPodAutoscalerSpec>(object.spec ?? {}, { minReplicas: 1, metrics: defaultMetrics })
  const spec = withChanged(filled, 'behavior', withRules)
  return spec === object.spec ? object : { ...object, spec }
}
