// Requests over HTTP/2 for tests: one session, any number of requests at once.

import { type ClientHttp2Session, connect } from 'node:http2'
import type { Access } from './api-client.js'
import { trusting } from './trust.js'

export interface Http2Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export class Http2Client {
  readonly session: ClientHttp2Session
  private readonly token: string

  constructor(access: Access) {
    this.session = connect(access.url, trusting(access.ca))
    this.session.on('error', () => undefined)
    this.token = access.token ?? ''
  }

  send(method: string, path: string, body?: unknown): Promise<Http2Answer> {
    return new Promise((resolve, reject) => {
      const stream = this.open(method, path, body === undefined)
      let status = 0
      let headers: Http2Answer['headers'] = {}
      let text = ''
      stream.setEncoding('utf8')
      stream.on('response', (received) => {
        status = Number(received[':status'])
        headers = received as Http2Answer['headers']
      })
      stream.on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('end', () => resolve({ status, headers, text }))
      stream.on('error', reject)
      if (body !== undefined) stream.end(JSON.stringify(body))
    })
  }

  /** A stream of its own, for what does not end with one answer. */
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
