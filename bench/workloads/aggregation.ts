// Aggregation: responses of an extension API server, compared with a bare proxy that uses TLS on both sides.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExtensionServer, register } from '../../packages/server/test/aggregation/extension-server.js'
import { newAuthority, newClient } from '../../packages/server/test/security/make-pki.js'
import type { Lab } from '../lab.js'
import type { Line } from '../report.js'
import { bodyBytes, lineOf, sequentialRequests, startFloor } from './proxy.js'

const path = '/apis/bench.example/v1/namespaces/default/gadgets/large'

export async function measureAggregation(lab: Lab): Promise<readonly Line[]> {
  const proxies = newAuthority('proxies')
  const client = newClient(proxies, 'aggregator')
  const extension = await ExtensionServer.start('bench.example', proxies.cert)
  lab.closeLater(async () => extension.close())
  const body = Buffer.alloc(bodyBytes, 'x')
  extension.behaviour = ({ url }, response) => {
    // The fixture records every request; without this, its memory grows.
    extension.seen.length = 0
    if (url !== path) return undefined
    response.writeHead(200, { 'Content-Length': bodyBytes }).end(body)
    return true
  }
  const writeFile = (name: string, text: string): string => {
    writeFileSync(join(lab.folder, name), text)
    return join(lab.folder, name)
  }
  const { process: server, served } = await lab.start([
    `--proxy-client-cert-file=${writeFile('proxy.crt', client.cert)}`,
    `--proxy-client-key-file=${writeFile('proxy.key', client.key)}`,
  ])
  await register(server.client, { server: extension })
  const readPki = (name: string): string => readFileSync(join(server.dataDir, 'pki', name), 'utf8')
  const target = { host: '127.0.0.1', port: extension.port, client }
  const floor = await startFloor(lab, served, { cert: readPki('serving.crt'), key: readPki('serving.key'), ...target })
  return [
    await lineOf(lab, '1 MiB from an extension server, TLS on both sides', [
      sequentialRequests(floor, path),
      sequentialRequests(served, path),
    ]),
  ]
}
