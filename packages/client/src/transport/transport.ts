// Transport interface of the client: HTTP requests, WebSockets and credentials.

/** Credential of a request. The certificate applies to the whole connection. */
export interface Credential {
  readonly authorization?: string
  readonly certificate?: { readonly cert: string; readonly key: string }
}

/** Source of credentials, called before each request, so that expired credentials can be renewed. */
export interface CredentialSource {
  current(signal?: AbortSignal): Credential | Promise<Credential>
  /** Discards a credential after 401. Returns true if the request should be retried with a new one. */
  invalidate?(credential: Credential): boolean
}

export interface TransportRequest {
  readonly method: string
  /** Path and query, relative to the server's address. */
  readonly path: string
  readonly headers: { readonly [name: string]: string | readonly string[] }
  readonly body?: string | Uint8Array
  readonly credential: Credential
  readonly signal?: AbortSignal | undefined
}

export interface TransportResponse {
  readonly status: number
  /** Values of a repeated header are joined by `, `. */
  header(name: string): string
  text(): Promise<string>
  /** Yields the body; a reader that stops early closes the connection. */
  chunks(): AsyncIterable<Uint8Array>
  discard(): void
}

/** Bidirectional connection of binary messages (WebSocket). */
export interface MessageSocket {
  /** Subprotocol that the server selected. */
  readonly protocol: string
  send(message: Uint8Array): Promise<void>
  /** Yields received messages; ends when the server closes, and throws if the connection breaks. */
  messages(): AsyncIterable<Uint8Array>
  close(): void
}

export interface SocketRequest extends Pick<TransportRequest, 'path' | 'headers' | 'credential' | 'signal'> {
  readonly protocols: readonly string[]
}

export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>
  openSocket(request: SocketRequest): Promise<MessageSocket>
  close(): void
}
