export interface Style {
  readonly bold: boolean
  readonly dim: boolean
  readonly italic: boolean
  readonly underline: boolean
  readonly inverse: boolean
  readonly color: string | null
  readonly fill: string | null
}

export interface Piece {
  readonly text: string
  readonly style: Style
}

export const rows: (screen: string) => ReadonlyArray<ReadonlyArray<Piece>>

export const render: (screen: string, options: { readonly columns: number; readonly command: string }) => string
