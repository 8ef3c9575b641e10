// A page that was opened as a file cannot start a worker, in which the theme searches. There, the
// worker's script runs in a hidden frame instead; it looks for the name IFrameWorker.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = this.inside.document.createElement("script")
      this.started = new Promise((resolve) => script.addEventListener("load", resolve))
      script.src = new URL(url, document.baseURI)
      this.inside.document.body.append(script)
    }

    async postMessage(data) {
      await this.started
      this.inside.dispatchEvent(new MessageEvent("message", { data }))
    }
  }
}
