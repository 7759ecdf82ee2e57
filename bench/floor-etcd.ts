// Floor (least possible cost) of a write to etcd: stores each body in one transaction over one node:http2 session.

import { connect } from 'node:http2'
import { decodeTxn, encodeTxn, methods } from '../packages/server/src/storage/etcd/grpc/etcd-messages.js'
import { frame } from '../packages/server/src/storage/etcd/grpc/grpc-channel.js'

export type Put = (name: string, bytes: Buffer) => Promise<unknown>

const headers = { ':method': 'POST', ':path': methods.txn, 'content-type': 'application/grpc', te: 'trailers' }
const grpcPrefixBytes = 5

interface BareEtcd {
  /** Puts the body in one transaction. Rejects if the key exists. */
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
        const response = Buffer.concat(chunks)
        if (response.length > grpcPrefixBytes && decodeTxn(response.subarray(grpcPrefixBytes)).succeeded) resolve()
        else reject(new Error(`${name} could not be stored`))
      })
      stream.end(frame(txn))
    })
  }
  return { put, close: () => session.destroy() }
}
