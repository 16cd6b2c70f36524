# `cargo xtask dist` fills in the places between @ and writes the formula to target/packages/wringer.rb. The address is an
# assumption: put that of your releases in its place.
class Wringer < Formula
  desc "Load tester for proxies, caches and servers"
  homepage "https://wringer.invalid"
  url "https://wringer.invalid/releases/v@VERSION@/@ARCHIVE@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on :linux
  depends_on arch: :x86_64

  def install
    # Homebrew enters the one folder that an archive has.
    root = File.directory?("usr") ? "usr" : "."
    bin.install "#{root}/bin/wringer"
    man1.install Dir["#{root}/share/man/man1/*"]
    bash_completion.install "#{root}/share/bash-completion/completions/wringer"
    zsh_completion.install "#{root}/share/zsh/vendor-completions/_wringer"
    fish_completion.install "#{root}/share/fish/vendor_completions.d/wringer.fish"
    doc.install Dir["#{root}/share/doc/wringer/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/wringer --version")
  end
end
