// What a bare server does to store a body in etcd: one transaction, by what Node has for HTTP/2.

import { connect } from 'node:http2'
import { messagePrefix } from '../src/storage/etcd/grpc-frames.js'
import { decodeTxn, encodeTxn, methods } from '../src/storage/etcd/messages.js'

export type Put = (name: string, bytes: Buffer) => Promise<unknown>

const headers = { ':method': 'POST', ':path': methods.txn, 'content-type': 'application/grpc', te: 'trailers' }
const prefixBytes = 5

export interface BareEtcd {
  /** One transaction for each body: the key must not be there, and is put. */
  readonly put: Put
  close(): void
}

export function openEtcd(url: string): BareEtcd {
  const session = connect(url, { settings: { enablePush: false } })
  const put: Put = (name, bytes) => {
    const key = `/registry/floor/${name}`
    const txn = encodeTxn({ compare: [{ key, modRevision: 0 }], success: [{ kind: 'put', key, value: [bytes] }], failure: [] }, 4096)
    return new Promise<void>((resolve, reject) => {
      const stream = session.request(headers, { endStream: false })
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('error', reject)
      stream.on('end', () => {
        const answer = Buffer.concat(chunks)
        if (answer.length > prefixBytes && decodeTxn(answer.subarray(prefixBytes)).succeeded) resolve()
        else reject(new Error(`${name} could not be stored`))
      })
      stream.end(Buffer.concat([messagePrefix(txn.length), txn]))
    })
  }
  return { put, close: () => session.destroy() }
}
