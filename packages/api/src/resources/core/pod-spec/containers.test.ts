// Tests of containers, init containers and ephemeral containers: names, images, ports, probes, environment, mounts.

import { test } from 'node:test'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import type { Container, PodSpec } from '../v1.schema.js'
import { container, contextWith, type Row, specErrors } from './pod-spec.fixture.js'

const containerPath = 'spec.containers[0]'

const containerRows: readonly Row<Container>[] = [
  [{}],
  [{ name: 'A_b' }, `${containerPath}.name: Invalid value: "A_b": a lowercase RFC 1123 label`],
  [
    { imagePullPolicy: 'Maybe', terminationMessagePolicy: 'Shout' },
    `${containerPath}.terminationMessagePolicy: Unsupported value: "Shout": supported values: "File", "FallbackToLogsOnError"`,
    `${containerPath}.imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"`,
  ],
  [
    {
      ports: [
        { containerPort: 0 },
        { containerPort: 70000, name: 'Too_Long_Port_Name' },
        { containerPort: 1, protocol: 'ICMP', hostPort: -1 },
        { containerPort: 1, hostPort: 9, name: 'a' },
        { containerPort: 2, hostPort: 9, name: 'a' },
        { containerPort: 2, hostPort: 9, hostIP: '10.0.0.1' },
      ],
    },
    `${containerPath}.ports[0].containerPort: Required value`,
    `${containerPath}.ports[1].name: Invalid value: "Too_Long_Port_Name": must be no more than 15 characters`,
    `${containerPath}.ports[1].name: Invalid value: "Too_Long_Port_Name": must contain only alpha-numeric`,
    `${containerPath}.ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`,
    `${containerPath}.ports[2].hostPort: Invalid value: -1`,
    `${containerPath}.ports[2].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`,
    `${containerPath}.ports[4].name: Duplicate value: "a"`,
    `${containerPath}.ports[4].hostPort: Duplicate value: "TCP//9"`,
  ],
  [
    {
      livenessProbe: { successThreshold: 2, periodSeconds: -1, tcpSocket: { port: 0 } },
      readinessProbe: { exec: {}, httpGet: { port: 1 }, terminationGracePeriodSeconds: 5 },
      startupProbe: { grpc: { port: 70000 }, terminationGracePeriodSeconds: 0 },
      lifecycle: { postStart: {}, preStop: { httpGet: { port: 'no port!', scheme: 'FTP', httpHeaders: [{ name: 'a b' }] } } },
    },
    `${containerPath}.lifecycle.postStart: Required value: must specify a handler type`,
    `${containerPath}.lifecycle.preStop.httpGet.port: Invalid value: "no port!": must contain only`,
    `${containerPath}.lifecycle.preStop.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"`,
    `${containerPath}.lifecycle.preStop.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header`,
    `${containerPath}.livenessProbe.tcpSocket.port: Invalid value: 0`,
    `${containerPath}.livenessProbe.periodSeconds: Invalid value: -1`,
    `${containerPath}.livenessProbe.successThreshold: Invalid value: 2: must be 1`,
    `${containerPath}.readinessProbe.exec.command: Required value`,
    `${containerPath}.readinessProbe.httpGet: Forbidden: may not specify more than 1 handler type`,
    `${containerPath}.readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes`,
    `${containerPath}.startupProbe.grpc.port: Invalid value: 70000`,
    `${containerPath}.startupProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`,
  ],
  [
    {
      env: [
        { name: '1=2' },
        { name: '..x' },
        { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'B', valueFrom: {} },
        { name: 'C', valueFrom: { fieldRef: { fieldPath: 'spec.containers' } } },
        { name: 'D', valueFrom: { secretKeyRef: { name: 'x' }, configMapKeyRef: { name: 'x', key: '..' } } },
        { name: 'E', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } },
        { name: 'F', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } },
        { name: 'G', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1k' } } },
        { name: 'H', valueFrom: { resourceFieldRef: { resource: 'limits.magic' } } },
        {},
      ],
      envFrom: [{ prefix: '1', configMapRef: { name: 'x' }, secretRef: {} }, {}],
    },
    `${containerPath}.env[0].name: Invalid value: "1=2": a valid environment variable name`,
    `${containerPath}.env[1].name: Invalid value: "..x": must not start with '..'`,
    `${containerPath}.env[2].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`,
    `${containerPath}.env[3].valueFrom: Invalid value: "": must specify one of: `,
    `${containerPath}.env[4].valueFrom.fieldRef.fieldPath: Invalid value: "spec.containers": error converting fieldPath: field label not supported`,
    `${containerPath}.env[5].valueFrom.configMapKeyRef.key: Invalid value: "..": must not be '..'`,
    `${containerPath}.env[5].valueFrom.secretKeyRef.key: Required value`,
    `${containerPath}.env[5].valueFrom: Invalid value: "": may not have more than one field specified at a time`,
    `${containerPath}.env[6].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name"`,
    `${containerPath}.env[7].valueFrom.fieldRef: Invalid value: "a b": name part must consist`,
    `${containerPath}.env[8].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1`,
    `${containerPath}.env[9].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.magic"`,
    `${containerPath}.env[10].name: Required value`,
    `${containerPath}.envFrom[0].prefix: Invalid value: "1"`,
    `${containerPath}.envFrom[0].secretRef.name: Required value`,
    `${containerPath}.envFrom: Invalid value: "": may not have more than one field specified at a time`,
    `${containerPath}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``,
  ],
]

for (const [given, ...expected] of containerRows) {
  test(`a container: ${rowTitle(given, expected)}`, () => expectErrors(specErrors({ containers: [container(given)] }), expected))
}

const mountsPath = `${containerPath}.volumeMounts`
const podRows: readonly Row<PodSpec>[] = [
  [{ containers: [] }, 'spec.containers: Required value'],
  [
    { containers: [{}, container(), container()] },
    `${containerPath}.name: Required value`,
    `${containerPath}.image: Required value`,
    'spec.containers[2].name: Duplicate value: "c"',
  ],
  [
    {
      volumes: [{ name: 'v' }],
      containers: [
        container({
          volumeMounts: [
            { name: 'gone', mountPath: '/a' },
            { name: 'v', mountPath: '/a' },
            { name: 'v', subPath: '../x', subPathExpr: '/y' },
            { name: 'v', mountPath: '/b', mountPropagation: 'Bidirectional' },
            { name: 'v', mountPath: '/c', mountPropagation: 'Sideways' },
          ],
        }),
      ],
    },
    `${mountsPath}[0].name: Not found: "gone"`,
    `${mountsPath}[1].mountPath: Invalid value: "/a": must be unique`,
    `${mountsPath}[2].mountPath: Required value`,
    `${mountsPath}.subPath: Invalid value: "../x": must not contain '..'`,
    `${mountsPath}[2].subPathExpr: Invalid value: "/y": subPathExpr and subPath are mutually exclusive`,
    `${mountsPath}.subPathExpr: Invalid value: "/y": must be a relative path`,
    `${mountsPath}.mountPropagation: Forbidden: Bidirectional mount propagation`,
    `${mountsPath}.mountPropagation: Unsupported value: "Sideways": supported values: "Bidirectional", "HostToContainer", "None"`,
  ],
  [
    {
      volumes: [{ name: 'v' }, { name: 'd', persistentVolumeClaim: { claimName: 'x' } }],
      containers: [
        container({
          volumeMounts: [{ name: 'd', mountPath: '/d' }],
          volumeDevices: [
            { name: 'v', devicePath: '/v' },
            { name: 'd', devicePath: '/d' },
            { name: 'gone', devicePath: '/x/../y' },
          ],
        }),
      ],
    },
    `${mountsPath}[0].name: Invalid value: "d": must not already exist in volumeDevices`,
    `${mountsPath}[0].mountPath: Invalid value: "/d": must not already exist as a path in volumeDevices`,
    `${containerPath}.volumeDevices[0].name: Invalid value: "v": can only use volume source type`,
    `${containerPath}.volumeDevices[1].name: Invalid value: "d": must not already exist in volumeMounts`,
    `${containerPath}.volumeDevices[1].devicePath: Invalid value: "/d": must not already exist as a path in volumeMounts`,
    `${containerPath}.volumeDevices[2].name: Not found: "gone"`,
    `${containerPath}.volumeDevices[2].devicePath: Invalid value: "/x/../y": can not contain backsteps`,
  ],
  [
    { initContainers: [container({ livenessProbe: { exec: { command: ['x'] } }, lifecycle: {} })] },
    'spec.initContainers[0].name: Duplicate value: "c"',
    'spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers',
    'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers',
  ],
  [
    {
      volumes: [{ name: 'v' }],
      ephemeralContainers: [
        {
          name: 'c',
          image: ' i',
          targetContainerName: 'gone',
          ports: [{ containerPort: 1 }],
          resources: { limits: { cpu: '1' } },
          lifecycle: {},
          volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'x' }],
        },
      ],
    },
    'spec.ephemeralContainers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
    'spec.ephemeralContainers[0].name: Duplicate value: "c"',
    'spec.ephemeralContainers[0].targetContainerName: Not found: "gone"',
    'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
    'spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container',
    'spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral Container',
    'spec.ephemeralContainers[0].volumeMounts[0].subPath: Forbidden: cannot be set for an Ephemeral Container',
  ],
]

for (const [given, ...expected] of podRows) test(`a pod: ${rowTitle(given, expected)}`, () => expectErrors(specErrors(given), expected))

test('huge pages in the downward API need a feature gate', () => {
  const env = [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi' } } }]
  expectErrors(specErrors({ containers: [container({ env })] }), [])
  expectErrors(specErrors({ containers: [container({ env })] }, contextWith({ gates: () => false })), [
    `${containerPath}.env[0].valueFrom.resourceFieldRef.resource: Unsupported value`,
  ])
})
