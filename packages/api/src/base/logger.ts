// Logger interface; the code that assembles the server decides where lines go.

export interface Logger {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

export type LogFields = Readonly<Record<string, unknown>>

const ignore = (): void => undefined

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
