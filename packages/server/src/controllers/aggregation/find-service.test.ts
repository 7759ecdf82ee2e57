// Resolving the Service of an APIService.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { create } from '../../verbs/create.js'
import { withDefaults } from '../../verbs/version-conversion.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { internalCall } from '../framework/internal-call.js'
import { type ServiceFinder, serviceFinder } from './find-service.js'

async function setUp(service: object, subsets?: readonly object[]) {
  const { engine, catalogs } = await createTestEngine('cluster', systemClock)
  const createObject = (plural: string, more: object): Promise<unknown> => {
    const resource = catalogs.current.find('', 'v1', plural) as Resource
    const metadata = { name: 'api', namespace: 'shop' }
    const call = internalCall(engine, { resource, namespace: 'shop', name: 'api' })
    return create(engine, call, { object: withDefaults(call, { metadata, ...more } as ApiObject) })
  }
  await createObject('services', { spec: service })
  if (subsets !== undefined) await createObject('endpoints', { subsets })
  return (toEndpoints: boolean, random = () => 0): ServiceFinder => serviceFinder({ store: engine.store, catalogs, toEndpoints, random })
}

const serviceAt = (port: number) => ({ namespace: 'shop', name: 'api', port })
const ports = [
  { name: 'tls', port: 443, targetPort: 8443, protocol: 'TCP' },
  { name: 'other', port: 80, targetPort: 80, protocol: 'TCP' },
]
const clusterService = { type: 'ClusterIP', clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'], ports, sessionAffinity: 'None' }
const subsets = [
  { notReadyAddresses: [{ ip: '192.0.2.9' }], ports: [{ name: 'tls', port: 8443, protocol: 'TCP' }] },
  { addresses: [{ ip: '192.0.2.5' }], ports: [{ name: 'other', port: 80, protocol: 'TCP' }] },
  { addresses: [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }], ports: [{ name: 'tls', port: 8443, protocol: 'TCP' }] },
]

test('resolves to the cluster IP, or to a ready endpoint', async () => {
  const finder = await setUp(clusterService, subsets)
  assert.equal(finder(false).locate(serviceAt(443)), '10.0.0.7:443')
  assert.equal(finder(true).locate(serviceAt(443)), '192.0.2.1:8443')
  assert.equal(finder(true, () => 0.99).locate(serviceAt(443)), '[2001:db8::1]:8443')
  assert.equal(finder(true).findProblem(serviceAt(443)), undefined)
  assert.throws(() => finder(false).locate(serviceAt(8080)), /^Error: no service port 8080 found for service "api"$/)
  assert.throws(() => finder(false).locate({ ...serviceAt(443), name: 'none' }), /^Error: service "none" not found$/)
})

test('resolves ExternalName without checking endpoints', async () => {
  const finder = await setUp({ type: 'ExternalName', externalName: 'api.example' })
  assert.equal(finder(false).locate(serviceAt(443)), 'api.example:443')
  assert.equal(finder(true).locate(serviceAt(6443)), 'api.example:6443')
  assert.equal(finder(false).findProblem(serviceAt(443)), undefined)
})

test('reports a headless service without endpoints', async () => {
  const finder = await setUp({ ...clusterService, clusterIP: 'None', clusterIPs: ['None'] }, [])
  assert.throws(() => finder(false).locate(serviceAt(443)), /^Error: cannot route to service with ClusterIP "None"$/)
  assert.throws(() => finder(true).locate(serviceAt(443)), /^Error: no endpoints available for service "api"$/)
  assert.deepEqual(finder(false).findProblem(serviceAt(443)), {
    reason: 'MissingEndpoints',
    message: 'endpoints for service/api in "shop" have no addresses with port name "tls"',
  })
})
