// Tests of the printer columns of Services.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../../api/rule-context.fixture.js'
import { usualContext } from '../../expect-errors.fixture.js'
import type { Service, ServicePort, ServiceSpec } from '../v1.schema.js'
import { service } from './service.js'

const context = usualContext()
const metadata = { name: 's', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const port: ServicePort = { port: 80, protocol: 'TCP', targetPort: 80 }
const bare = (spec: ServiceSpec, more: Partial<Service> = {}): Service => frozen({ metadata, spec, ...more })

const cellRows: readonly (readonly [title: string, object: Service, cells: readonly unknown[]])[] = [
  [
    'a ClusterIP Service',
    bare({
      type: 'ClusterIP',
      clusterIPs: ['10.0.0.1'],
      ports: [port, { ...port, port: 53, protocol: 'UDP' }],
      selector: { b: '2', a: '1' },
    }),
    ['s', 'ClusterIP', '10.0.0.1', '<none>', '80/TCP,53/UDP', '60m', 'a=1,b=2'],
  ],
  [
    'a NodePort Service with externalIPs',
    bare({ type: 'NodePort', clusterIPs: ['10.0.0.1'], externalIPs: ['192.0.2.7', '192.0.2.8'], ports: [{ ...port, nodePort: 30001 }] }),
    ['s', 'NodePort', '10.0.0.1', '192.0.2.7,192.0.2.8', '80:30001/TCP', '60m', '<none>'],
  ],
  [
    'a LoadBalancer Service without ingress',
    bare({ type: 'LoadBalancer', clusterIPs: ['10.0.0.1'] }),
    ['s', 'LoadBalancer', '10.0.0.1', '<pending>', '<none>', '60m', '<none>'],
  ],
  [
    'a LoadBalancer Service with ingress',
    bare(
      { type: 'LoadBalancer', clusterIPs: ['10.0.0.1'], externalIPs: ['192.0.2.9'] },
      { status: { loadBalancer: { ingress: [{ hostname: 'lb.example' }, { ip: '192.0.2.1' }, { ip: '192.0.2.1' }] } } },
    ),
    ['s', 'LoadBalancer', '10.0.0.1', '192.0.2.1,lb.example,192.0.2.9', '<none>', '60m', '<none>'],
  ],
  [
    'an ExternalName Service',
    bare({ type: 'ExternalName', externalName: 'db.example' }),
    ['s', 'ExternalName', '<none>', 'db.example', '<none>', '60m', '<none>'],
  ],
]

for (const [title, object, cells] of cellRows)
  test(`printer columns of ${title}`, () => assert.deepEqual(service.table?.cells(object, context), cells))
