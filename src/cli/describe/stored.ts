// What is only kept: config maps, secrets, namespaces with their limits.

import { compareText } from '../../base/text-order.js'
import type { ConfigMap, LimitRange, Namespace, ResourceQuota, Secret } from '../../client/typed/types.js'
import { conditionsEntry, labelEntries, textOr } from './common.js'
import type { DescribeContext } from './context.js'
import { bare, type Entry } from './entry.js'
import { limitHeaders, limitRows, quotaRows } from './limits.js'

export function describeConfigMap(object: ConfigMap): readonly Entry[] {
  const { data = {}, binaryData = {} } = object
  return [
    ...labelEntries(object),
    ...sectionOf(
      'Data',
      sorted(data).flatMap(([key, value]) => [`${key}:`, '----', ...value.split('\n')]),
    ),
    ...sectionOf(
      'BinaryData',
      sorted(binaryData).map(([key, value]) => `${key}: ${sizeOf(value)} bytes`),
    ),
    bare(''),
  ]
}

/** Never what is in it. */
export function describeSecret(object: Secret): readonly Entry[] {
  return [
    ...labelEntries(object),
    bare(''),
    ['Type', textOr(object.type, '')],
    ...sectionOf('Data', []),
    ...sorted(object.data ?? {}).map(([key, value]): Entry => [key, `${sizeOf(value)} bytes`]),
  ]
}

/** A title that is underlined, and lines. */
const sectionOf = (title: string, lines: readonly string[]): readonly Entry[] => ['', title, '====', ...lines].map(bare)

const sorted = <T>(values: { readonly [key: string]: T }): readonly (readonly [string, T])[] =>
  Object.entries(values).sort(([a], [b]) => compareText(a, b))

/** Of what is written in base64. */
const sizeOf = (text: unknown): number => Buffer.byteLength(String(text), 'base64')

export async function describeNamespace(object: Namespace, context: DescribeContext): Promise<readonly Entry[]> {
  const name = object.metadata?.name
  const quotas = await context.list<ResourceQuota>('resourcequotas', name)
  const limits = await context.list<LimitRange>('limitranges', name)
  return [
    ...labelEntries(object),
    ['Status', textOr(object.status?.phase)],
    conditionsEntry(object.status?.conditions, ['Type', 'LastTransitionTime', 'Reason', 'Message']),
    bare(''),
    ...(quotas === undefined || quotas.length === 0 ? [bare('No resource quota.')] : quotasOf(quotas)),
    bare(''),
    ...(limits === undefined || limits.length === 0 ? [bare('No LimitRange resource.')] : limitsOf(limits)),
  ]
}

const quotasOf = (quotas: readonly ResourceQuota[]): readonly Entry[] => [
  bare('Resource Quotas'),
  ...quotas.flatMap((quota): readonly Entry[] => [
    [
      '',
      {
        lines: [
          ['  Name:', quota.metadata?.name ?? ''],
          ['  Resource', 'Used', 'Hard'],
          ['  --------', '---', '---'],
          ...quotaRows(quota).map(([, name = '', ...more]) => [`  ${name}`, ...more]),
        ],
      },
    ],
  ]),
]

const limitsOf = (limits: readonly LimitRange[]): readonly Entry[] => [
  bare('Resource Limits'),
  ['', { headers: limitHeaders, rows: limits.flatMap(limitRows), indent: 1 }],
]
