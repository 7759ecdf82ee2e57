// Where pods run and what they wait for: affinity, tolerations, spreading, gates, names and the resolver.

import { test } from 'node:test'
import type { PodSpec, Toleration } from '../v1.schema.js'
import { assertFound, contextWith, type Row, specErrors } from './pod-spec.fixture.js'
import { validateRemovedGates } from './scheduling-fields.js'
import { validateAddedTolerations } from './tolerations.js'

const needed = 'requiredDuringSchedulingIgnoredDuringExecution'
const wanted = 'preferredDuringSchedulingIgnoredDuringExecution'
const node = 'spec.affinity.nodeAffinity'
const anti = 'spec.affinity.podAntiAffinity'
const spread = 'spec.topologySpreadConstraints'

const rows: readonly Row<PodSpec>[] = [
  {
    title: 'nodes that cannot be found',
    given: {
      affinity: {
        nodeAffinity: {
          [needed]: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'a', operator: 'In' },
                  { key: 'b', operator: 'Near' },
                ],
              },
            ],
          },
          [wanted]: [{ weight: 0, preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] } }],
        },
      },
    },
    found: [
      `${node}.${needed}.nodeSelectorTerms[0].matchExpressions[0].values: Required value`,
      `${node}.${needed}.nodeSelectorTerms[0].matchExpressions[1].operator: Invalid value: "Near": not a valid selector operator`,
      `${node}.${wanted}[0].weight: Invalid value: 0: must be in the range 1-100`,
    ],
  },
  {
    title: 'pods that cannot be found',
    given: {
      affinity: {
        podAntiAffinity: {
          [needed]: [{ namespaces: ['A'], labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] } }],
          [wanted]: [{ weight: 101, podAffinityTerm: { topologyKey: 'a', namespaceSelector: { matchLabels: { a: 'not ok' } } } }],
        },
      },
    },
    found: [
      `${anti}.${needed}[0].labelSelector.matchExpressions[0].values: Forbidden: may not be specified`,
      `${anti}.${needed}[0].namespace: Invalid value: "A"`,
      `${anti}.${needed}[0].topologyKey: Required value: can not be empty`,
      `${anti}.${needed}[0].topologyKey: Invalid value: "": name part must be non-empty`,
      `${anti}.${needed}[0].topologyKey: Invalid value: "": name part must consist`,
      `${anti}.${wanted}[0].weight: Invalid value: 101: must be in the range 1-100`,
      `${anti}.${wanted}[0].podAffinityTerm.namespaceSelector.matchLabels: Invalid value: "not ok"`,
    ],
  },
  {
    title: 'tolerations of nothing',
    given: {
      tolerations: [
        { operator: 'Near' },
        { key: 'a', operator: 'Exists', value: 'x' },
        { value: 'not ok' },
        { key: 'a', effect: 'Never' },
        { key: 'a b', effect: 'NoSchedule', tolerationSeconds: 5 },
      ],
    },
    found: [
      'spec.tolerations[0].operator: Invalid value: "Near": operator must be Exists when `key` is empty',
      'spec.tolerations[0].operator: Unsupported value: "Near": supported values: "Equal", "Exists"',
      'spec.tolerations[1].operator: Invalid value: {"key":"a","operator":"Exists","value":"x"}: value must be empty when',
      'spec.tolerations[2].operator: Invalid value: "": operator must be Exists',
      'spec.tolerations[2].operator: Invalid value: "not ok": a valid label must',
      'spec.tolerations[3].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      'spec.tolerations[4].key: Invalid value: "a b"',
      'spec.tolerations[4].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
    ],
  },
  {
    title: 'a spread that is none',
    given: {
      topologySpreadConstraints: [
        { maxSkew: 0, whenUnsatisfiable: 'Retry', minDomains: 0, nodeTaintsPolicy: 'Mock' },
        {
          maxSkew: 1,
          topologyKey: 'z',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { a: 'b' } },
          matchLabelKeys: ['a', 'b c'],
        },
        { maxSkew: 2, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    },
    found: [
      `${spread}[0].maxSkew: Invalid value: 0: must be greater than zero`,
      `${spread}[0].topologyKey: Required value: can not be empty`,
      `${spread}[0].whenUnsatisfiable: Unsupported value: "Retry": supported values: "DoNotSchedule", "ScheduleAnyway"`,
      `${spread}[0].minDomains: Invalid value: 0: must be greater than zero`,
      `${spread}[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not Retry`,
      `${spread}[0].nodeTaintsPolicy: Unsupported value: "Mock": supported values: "Honor", "Ignore"`,
      `${spread}[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"`,
      `${spread}[1].matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector`,
      `${spread}[1].matchLabelKeys[1]: Invalid value: "b c"`,
    ],
  },
  {
    title: 'gates without names',
    given: { readinessGates: [{ conditionType: 'a b' }], schedulingGates: [{}, { name: 'x' }, { name: 'x' }] },
    found: [
      'spec.readinessGates[0].conditionType: Invalid value: "a b"',
      'spec.schedulingGates[0]: Required value: must not be empty',
      'spec.schedulingGates[2]: Duplicate value: "x"',
    ],
  },
  {
    title: 'wrong names, policies and times',
    given: {
      restartPolicy: 'Sometimes',
      dnsPolicy: 'None',
      activeDeadlineSeconds: 0,
      nodeSelector: { a: 'not ok' },
      hostname: 'Not.A.Label',
      subdomain: 'x_y',
      nodeName: 'N',
      priorityClassName: 'P',
      runtimeClassName: '',
      serviceAccountName: 'S',
      preemptionPolicy: 'Maybe',
    },
    found: [
      'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
      'spec.nodeSelector: Invalid value: "not ok"',
      'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None',
      'spec.serviceAccountName: Invalid value: "S"',
      'spec.nodeName: Invalid value: "N"',
      'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
      'spec.hostname: Invalid value: "Not.A.Label"',
      'spec.subdomain: Invalid value: "x_y"',
      'spec.priorityClassName: Invalid value: "P"',
      'spec.runtimeClassName: Invalid value: ""',
      'spec.preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"',
    ],
  },
  {
    title: 'a resolver that cannot work',
    given: {
      dnsPolicy: 'Rumour',
      dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '::1', 'x'], searches: ['a.b.', 'A'], options: [{ value: 'x' }] },
      hostAliases: [{ ip: 'x', hostnames: ['a', 'B'] }],
    },
    found: [
      'spec.dnsPolicy: Unsupported value: "Rumour": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","::1","x"]: must not have more than 3 nameservers',
      'spec.dnsConfig.nameservers[3]: Invalid value: "x": must be valid IP address',
      'spec.dnsConfig.searches[1]: Invalid value: "A"',
      'spec.dnsConfig.options[0]: Required value: must not be empty',
      'spec.hostAliases.ip: Invalid value: "x": must be valid IP address',
      'spec.hostAliases.hostnames: Invalid value: "B"',
    ],
  },
  {
    title: 'a policy that needs a server',
    given: { dnsPolicy: 'None', dnsConfig: {} },
    found: ['spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None'],
  },
]

for (const { title, given, found } of rows) test(`a pod with ${title}`, () => assertFound(specErrors(given), found))

test('more search paths come with a feature', () => {
  const searches = Array.from({ length: 7 }, (_, i) => `a${i}`)
  assertFound(specErrors({ dnsConfig: { searches } }), [])
  assertFound(specErrors({ dnsConfig: { searches } }, contextWith({ gates: () => false })), [
    'spec.dnsConfig.searches: Invalid value: ["a0","a1","a2","a3","a4","a5","a6"]: must not have more than 6 search paths',
  ])
})

const a: Toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute' }
const b: Toleration = { key: 'b', operator: 'Exists' }
const changes: readonly {
  readonly title: string
  readonly next: readonly Toleration[]
  readonly old: readonly Toleration[]
  readonly fine: boolean
}[] = [
  { title: 'one more', old: [a], next: [a, b], fine: true },
  { title: 'another order', old: [a, b], next: [b, a], fine: true },
  { title: 'another time', old: [{ ...a, tolerationSeconds: 5 }], next: [{ ...a, tolerationSeconds: 6 }], fine: true },
  { title: 'one less', old: [a, b], next: [b], fine: false },
  { title: 'another effect', old: [b], next: [{ ...b, effect: 'NoSchedule' }], fine: false },
]
for (const { title, next, old, fine } of changes) {
  test(`tolerations change by ${title}`, () =>
    assertFound(
      validateAddedTolerations(next, old, 'spec.tolerations'),
      fine ? [] : ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
    ))
}

test('gates are opened and not built', () => {
  assertFound(validateRemovedGates([{ name: 'a' }], [{ name: 'a' }, { name: 'b' }], 'g'), [])
  assertFound(validateRemovedGates([{ name: 'a' }, { name: 'c' }], [{ name: 'a' }], 'g'), [
    "g[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'",
  ])
})
