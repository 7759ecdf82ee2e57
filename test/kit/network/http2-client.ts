// HTTP/2 client for tests: one session, concurrent requests.

import { type ClientHttp2Session, connect } from 'node:http2'
import type { Access } from '../api-client.js'
import { secureContextFor } from '../secure-context.js'

interface Http2Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export class Http2Client {
  readonly session: ClientHttp2Session
  private readonly token: string

  constructor(access: Access) {
    this.session = connect(access.url, secureContextFor(access.ca))
    this.session.on('error', () => undefined)
    this.token = access.token ?? ''
  }

  send(method: string, path: string, body?: unknown): Promise<Http2Response> {
    return new Promise((resolve, reject) => {
      const stream = this.open(method, path, body === undefined)
      let status = 0
      let headers: Http2Response['headers'] = {}
      let text = ''
      stream.setEncoding('utf8')
      stream.on('response', (received) => {
        status = Number(received[':status'])
        headers = received as Http2Response['headers']
      })
      stream.on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('end', () => resolve({ status, headers, text }))
      stream.on('error', reject)
      if (body !== undefined) stream.end(JSON.stringify(body))
    })
  }

  /** Opens a stream, for watches and long requests. */
  open(method: string, path: string, endStream = true) {
    return this.session.request(
      { ':method': method, ':path': path, authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      { endStream },
    )
  }

  close(): void {
    this.session.destroy()
  }
}
