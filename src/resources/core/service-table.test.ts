// Rows of services in a table.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { usualContext } from '../expect-errors.fixture.js'
import { service } from './service.js'
import type { Service, ServicePort, ServiceSpec } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 's', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const port: ServicePort = { port: 80, protocol: 'TCP', targetPort: 80 }
const bare = (spec: ServiceSpec, more: Partial<Service> = {}): Service => frozen({ metadata, spec, ...more })

const cells: readonly { readonly title: string; readonly object: Service; readonly cells: readonly unknown[] }[] = [
  {
    title: 'a plain one',
    object: bare({
      type: 'ClusterIP',
      clusterIPs: ['10.0.0.1'],
      ports: [port, { ...port, port: 53, protocol: 'UDP' }],
      selector: { b: '2', a: '1' },
    }),
    cells: ['s', 'ClusterIP', '10.0.0.1', '<none>', '80/TCP,53/UDP', '60m', 'a=1,b=2'],
  },
  {
    title: 'node ports and external addresses',
    object: bare({
      type: 'NodePort',
      clusterIPs: ['10.0.0.1'],
      externalIPs: ['192.0.2.7', '192.0.2.8'],
      ports: [{ ...port, nodePort: 30001 }],
    }),
    cells: ['s', 'NodePort', '10.0.0.1', '192.0.2.7,192.0.2.8', '80:30001/TCP', '60m', '<none>'],
  },
  {
    title: 'a balancer that waits',
    object: bare({ type: 'LoadBalancer', clusterIPs: ['10.0.0.1'] }),
    cells: ['s', 'LoadBalancer', '10.0.0.1', '<pending>', '<none>', '60m', '<none>'],
  },
  {
    title: 'a balancer',
    object: bare(
      { type: 'LoadBalancer', clusterIPs: ['10.0.0.1'], externalIPs: ['192.0.2.9'] },
      { status: { loadBalancer: { ingress: [{ hostname: 'lb.example' }, { ip: '192.0.2.1' }, { ip: '192.0.2.1' }] } } },
    ),
    cells: ['s', 'LoadBalancer', '10.0.0.1', '192.0.2.1,lb.example,192.0.2.9', '<none>', '60m', '<none>'],
  },
  {
    title: 'another name',
    object: bare({ type: 'ExternalName', externalName: 'db.example' }),
    cells: ['s', 'ExternalName', '<none>', 'db.example', '<none>', '60m', '<none>'],
  },
]

for (const row of cells) test(`a row for ${row.title}`, () => assert.deepEqual(service.table?.cells(row.object, context), row.cells))
