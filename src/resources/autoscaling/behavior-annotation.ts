// How an autoscaler behaves, as text for an annotation: the first version has no fields for it. Its spelling is that of old.

import { isRecord } from '../../schema/read.js'
import { writeAny } from '../../schema/write.js'
import type { HorizontalPodAutoscalerBehavior, HPAScalingPolicy, HPAScalingRules } from './v2.schema.js'

export const writeBehavior = ({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): string =>
  writeAny({ ScaleUp: rulesToText(scaleUp), ScaleDown: rulesToText(scaleDown) })

const rulesToText = (rules: HPAScalingRules | undefined): object | null =>
  rules === undefined
    ? null
    : {
        StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
        SelectPolicy: rules.selectPolicy ?? null,
        Policies:
          rules.policies?.map(({ type = '', value = 0, periodSeconds = 0 }) => ({
            Type: type,
            Value: value,
            PeriodSeconds: periodSeconds,
          })) ?? null,
      }

/** Undefined where the text is none of this, or says nothing. */
export function readBehavior(text: string): HorizontalPodAutoscalerBehavior | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const [scaleUp, scaleDown] = [readRules(memberOf(value, 'scaleUp')), readRules(memberOf(value, 'scaleDown'))]
  if (scaleUp === undefined && scaleDown === undefined) return undefined
  return { ...(scaleUp === undefined ? {} : { scaleUp }), ...(scaleDown === undefined ? {} : { scaleDown }) }
}

/** Members are found in any case. */
function memberOf(value: unknown, name: string): unknown {
  if (!isRecord(value)) return undefined
  const key = Object.keys(value).find((candidate) => candidate.toLowerCase() === name.toLowerCase())
  return key === undefined ? undefined : value[key]
}

const isInteger = (value: unknown): value is number => Number.isInteger(value)

function readRules(value: unknown): HPAScalingRules | undefined {
  if (!isRecord(value)) return undefined
  const window = memberOf(value, 'stabilizationWindowSeconds')
  const select = memberOf(value, 'selectPolicy')
  const policies = memberOf(value, 'policies')
  return {
    ...(isInteger(window) ? { stabilizationWindowSeconds: window } : {}),
    ...(typeof select === 'string' ? { selectPolicy: select } : {}),
    ...(Array.isArray(policies) ? { policies: policies.map(readPolicy) } : {}),
  }
}

function readPolicy(value: unknown): HPAScalingPolicy {
  const [type, amount, period] = ['type', 'value', 'periodSeconds'].map((name) => memberOf(value, name))
  return {
    ...(typeof type === 'string' ? { type } : {}),
    ...(isInteger(amount) ? { value: amount } : {}),
    ...(isInteger(period) ? { periodSeconds: period } : {}),
  }
}
