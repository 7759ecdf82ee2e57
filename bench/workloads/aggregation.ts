// Bytes of an extension server that are passed on, beside a bare proxy that is encrypted on both sides as well.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExtensionServer, register } from '../../test/aggregation/extension-server.js'
import { newAuthority, newClient } from '../../test/security/make-pki.js'
import type { Lab } from '../lab.js'
import type { Line } from '../report.js'
import { asking, bodyBytes, lineOf, startFloor } from './proxy.js'

const path = '/apis/bench.example/v1/namespaces/default/gadgets/large'

export async function measureExtension(lab: Lab): Promise<readonly Line[]> {
  const proxies = newAuthority('proxies')
  const client = newClient(proxies, 'aggregator')
  const extension = await ExtensionServer.start('bench.example', proxies.cert)
  lab.closeLater(async () => extension.close())
  const body = Buffer.alloc(bodyBytes, 'x')
  extension.behaviour = ({ url }, response) => {
    extension.seen.length = 0
    if (url !== path) return undefined
    response.writeHead(200, { 'Content-Length': bodyBytes }).end(body)
    return true
  }
  const file = (name: string, text: string): string => {
    writeFileSync(join(lab.folder, name), text)
    return join(lab.folder, name)
  }
  const { process: server, served } = await lab.start([
    `--proxy-client-cert-file=${file('proxy.crt', client.cert)}`,
    `--proxy-client-key-file=${file('proxy.key', client.key)}`,
  ])
  await register(server.client, { server: extension })
  const own = (name: string): string => readFileSync(join(server.dataDir, 'pki', name), 'utf8')
  const target = { host: '127.0.0.1', port: extension.port, client }
  const floor = await startFloor(lab, served, { cert: own('serving.crt'), key: own('serving.key'), ...target })
  return [await lineOf(lab, 'a MiB from an extension server, encrypted on both sides', [asking(floor, path), asking(served, path)])]
}
