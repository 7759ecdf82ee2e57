// What carries requests: one way over Node's sockets, one over the browser's `fetch`, and whatever a test puts in their place.

/** What a request proves who it is with. A certificate belongs to the connection, the rest to the request. */
export interface Credential {
  /** The value of the header, such as `Bearer …`. */
  readonly authorization?: string
  /** In PEM form. */
  readonly certificate?: { readonly cert: string; readonly key: string }
}

/** Where credentials come from; asked before each request, so that what expires can be renewed. */
export interface CredentialSource {
  current(signal?: AbortSignal): Credential | Promise<Credential>
  /** The server did not accept it (401): the next one is another, where there can be another. True where it is worth to ask again. */
  refuse?(credential: Credential): boolean
}

export interface TransportRequest {
  readonly method: string
  /** With its query, below the address of the server. */
  readonly path: string
  readonly headers: { readonly [name: string]: string | readonly string[] }
  readonly body?: string | Uint8Array
  readonly credential: Credential
  readonly signal?: AbortSignal | undefined
}

export interface TransportResponse {
  readonly status: number
  /** Values of a header that stands several times are joined by `, `. */
  header(name: string): string
  text(): Promise<string>
  /** Bytes as they come. Who leaves the loop early closes the connection. */
  chunks(): AsyncIterable<Uint8Array>
  /**
   * The same for who needs no time for a chunk: each is taken as it comes, and its memory is used again when `take` returns. An error of `take`
   * closes the connection, and is thrown.
   */
  forEachChunk?(take: (chunk: Uint8Array) => void): Promise<void>
  /** A text of bytes in UTF-8, where there is a quicker way than `TextDecoder`. */
  decode?(bytes: Uint8Array): string
  /** Nobody wants the body. */
  discard(): void
}

/** A connection that carries messages both ways (WebSocket). */
export interface MessageSocket {
  /** Which of the protocols that were offered was chosen. */
  readonly protocol: string
  /** Resolves when there is room for more. */
  send(message: Uint8Array): Promise<void>
  /** What the other side sends; ends when it closes, and throws when the connection breaks. */
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
